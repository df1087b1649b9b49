//! Read-only projections: how people and reasoners see what really happened.

mod consequence;
mod trace;
mod transition;

pub use consequence::{ConsequenceView, Label, render};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
