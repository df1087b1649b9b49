use super::{AnyExecution, Progress};
use crate::stored::Decision;

#[derive(Debug)]
pub(crate) struct AnsweredGate {
    pub(crate) gate: AnyExecution,
    pub(crate) decision: Decision,
}

/// The answer of a gate, if it has one.
#[must_use]
pub fn decision(gate: &AnyExecution) -> Option<Decision> {
    Progress::of(gate).decision
}
