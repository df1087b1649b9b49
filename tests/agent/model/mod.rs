//! Two agents, two workers, and what may go wrong with them (TN-2, TN-9). The checker goes through
//! every order of what the runtime, the workers, the services and people do, and finds what is
//! wrong with broken twins of the protocol. `AGENT_MODEL_LONG=1` takes minutes.
//!
//! A worker that was frozen or cut off goes on with the epoch that it had, and with the newest
//! state: nothing but the epoch keeps it out.

mod act;
mod defect;
mod ends;
mod properties;
mod scenario;
mod step;
mod tests;
mod world;
