//! Read-only projections of executions and journals, for people and reasoners.

mod consequence;
mod late;
mod trace;
mod transition;

pub use consequence::{ConsequenceView, Label, render};
pub use late::{LateEvidence, late_evidence};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
