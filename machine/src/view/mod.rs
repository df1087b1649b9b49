//! Read-only projections of executions and journals, for people and reasoners.

mod consequence;
mod fact;
mod late;
#[cfg(feature = "sqlite")]
mod remember;
mod trace;
mod transition;

pub use consequence::{ConsequenceView, Label, render};
pub use fact::{ExecutionFact, FinalStatus};
pub use late::{LateEvidence, late_evidence};
#[cfg(feature = "sqlite")]
pub use remember::{FactSink, Remember, Remembered};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
