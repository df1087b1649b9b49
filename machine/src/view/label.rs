use std::fmt;

use serde::Serialize;

use crate::{
    contract::{AnyExecution, Progress, Release, execution::Status},
    line::LABELS,
};

/// The status of an execution, in the vocabulary for reasoners. What needs attention comes
/// first in the order of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, crate::ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Label {
    /// It ended as not done, and a receipt says that it took effect.
    Contradicted,
    /// WAITING, and it is unknown whether it took effect. It cannot be resumed.
    InDoubt,
    /// It is irreversible and has ended in memory, and no store has recorded that: the outcome is
    /// unverified.
    Unconfirmed,
    /// WAITING.
    Waiting,
    /// RUNNING.
    InProgress,
    /// PENDING, and its gate waits for an answer.
    Deferred,
    /// PENDING, and it may start.
    NotStarted,
    /// FAILED.
    Failed,
    /// REJECTED.
    Rejected,
    /// CANCELLED.
    Cancelled,
    /// COMPLETED.
    Success,
}

impl Label {
    /// Every label.
    pub const ALL: [Self; 11] = [
        Self::Contradicted,
        Self::InDoubt,
        Self::Unconfirmed,
        Self::Waiting,
        Self::InProgress,
        Self::Deferred,
        Self::NotStarted,
        Self::Failed,
        Self::Rejected,
        Self::Cancelled,
        Self::Success,
    ];

    /// The label of an execution.
    #[must_use]
    pub fn of(execution: &AnyExecution) -> Self {
        Self::from_parts(execution, &Progress::of(execution))
    }

    /// The labels that a stored execution in this state can have.
    pub(crate) fn of_state(status: Status) -> impl Iterator<Item = Self> + use<> {
        let labels: &[Self] = match status {
            Status::Pending => &[Self::Deferred, Self::NotStarted],
            Status::Running => &[Self::InProgress],
            Status::Waiting => &[Self::Waiting, Self::InDoubt],
            Status::Completed => &[Self::Success],
            Status::Failed => &[Self::Failed, Self::Contradicted],
            Status::Rejected => &[Self::Rejected, Self::Contradicted],
            Status::Cancelled => &[Self::Cancelled, Self::Contradicted],
        };
        labels.iter().copied()
    }

    pub(super) fn from_parts(execution: &AnyExecution, progress: &Progress) -> Self {
        if progress.is_in_doubt() {
            return Self::InDoubt;
        }
        if progress.is_contradicted() {
            return Self::Contradicted;
        }
        if is_unconfirmed(execution) {
            return Self::Unconfirmed;
        }
        match execution {
            AnyExecution::Pending(_) => match Release::of(execution) {
                Some(Release::Deferred) => Self::Deferred,
                _ => Self::NotStarted,
            },
            AnyExecution::Running(_) => Self::InProgress,
            AnyExecution::Waiting(_) => Self::Waiting,
            AnyExecution::Completed(_) => Self::Success,
            AnyExecution::Failed(_) => Self::Failed,
            AnyExecution::Rejected(_) => Self::Rejected,
            AnyExecution::Cancelled(_) => Self::Cancelled,
        }
    }

    /// As prompts show it, such as `IN_DOUBT`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        LABELS[self as usize]
    }
}

/// Returns whether its end is missing from the store. An idempotent action may run without one.
fn is_unconfirmed(execution: &AnyExecution) -> bool {
    let journal = execution.journal();
    let is_stored = journal.version() > 0 && journal.uncommitted().is_empty();
    execution.context().is_irreversible() && execution.status().definition().terminal && !is_stored
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
