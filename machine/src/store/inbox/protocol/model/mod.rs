//! Every order in which a few workers, messages, crashes and takeovers can meet: the checker runs
//! the real [`step`](super::step) through all of them. It must also find what is wrong with broken
//! twins of the protocol, so that its silence means something.

mod crowd;
mod defect;
mod properties;
mod seen;
mod tests;
mod worker;
mod world;
