//! Read-only projections: how people and reasoners see what really happened.

mod consequence;
mod late;
mod trace;
mod transition;

pub use consequence::{ConsequenceView, Label, render};
pub use late::{LateEvidence, late_evidence};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
