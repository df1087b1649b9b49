//! The protocol of agent turns: what it writes, and what it refuses.

mod batches;
mod refusals;
mod support;
