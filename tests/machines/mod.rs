//! Machines of all kinds in one language, each compared with the table of its source.

mod definitions;
mod first_use;
mod foreign;
mod orchestrator;
mod raft;
pub(crate) mod source;
mod turn;
mod workflow;
