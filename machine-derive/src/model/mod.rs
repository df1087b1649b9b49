//! The machine with its names resolved: states, triggers and moves refer to each other by index.

mod attendance;
mod branches;
mod clarity;
mod data;
mod edges;
mod graph;
mod guess;
mod hidden;
mod invocation;
mod leaving;
mod payload;
mod resolve;
mod same;
mod scope;

pub(crate) use edges::Stays;
pub(crate) use graph::{Brought, Graph, Guard, Move, Same, Source, State, Target, Trigger, Way};
pub(crate) use guess::Guess;
pub(crate) use invocation::Invocation;
pub(crate) use leaving::LeftBehind;
pub(crate) use resolve::{is_reserved_state, resolve};
pub(crate) use scope::names as names_in;
