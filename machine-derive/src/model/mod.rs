//! The machine with its names resolved: states, triggers and moves refer to each other by index.

mod graph;
mod resolve;

pub(crate) use graph::{Brought, Graph, Move, Source, State, Trigger, bare};
pub(crate) use resolve::{is_reserved, is_reserved_state, resolve};
