//! The machine with its names resolved: states, triggers and moves refer to each other by index.

mod branches;
mod calls;
mod clarity;
mod data;
mod edges;
mod graph;
mod guess;
mod hidden;
mod invocation;
mod payload;
mod reserved;
mod resolve;
mod same;
mod scope;

pub(crate) use edges::Stays;
pub(crate) use graph::{
    Brought, Graph, Guard, Move, Same, Source, State, Target, Trigger, Way, deduplicated,
};
pub(crate) use guess::Guess;
pub(crate) use invocation::Invocation;
pub(crate) use reserved::is_reserved_state;
pub(crate) use resolve::resolve;
pub(crate) use scope::{as_bound, names as names_in, resolved_at};
