//! Acts of people, for the operator log.

use std::fmt::Display;

use crate::{
    actor::{Actor, Human},
    effects::error::EffectError,
    id::Id,
    store::{error::CommitError, handle::Store, operation::NewOperation},
    typed::Refused,
};

/// The findings of a person about an execution in doubt.
pub(crate) const CONFIRM_APPLIED: &str = "confirm applied";
pub(crate) const CONFIRM_NOT_APPLIED: &str = "confirm not applied";
pub(crate) const OVERRIDE_NOT_APPLIED: &str = "override not applied";

/// An operator's action on a machine. The batch that performs it also writes its line of the
/// operator log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) by: String,
    /// Such as `approve`.
    pub(crate) operation: &'static str,
    pub(crate) machines: Vec<Id>,
    /// More about it, without payloads and secrets.
    pub(crate) detail: String,
}

impl Act {
    pub(crate) fn new(by: &Human, operation: &'static str, machines: &[Id], detail: &str) -> Self {
        let by = by.name().unwrap_or_default().to_owned();
        Self { by, operation, machines: machines.to_vec(), detail: detail.to_owned() }
    }

    /// One line for several machines to which the same was done.
    pub(crate) fn merged(acts: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for act in acts {
            let is_same = |other: &&mut Self| {
                (&other.by, other.operation, &other.detail) == (&act.by, act.operation, &act.detail)
            };
            match merged.iter_mut().find(is_same) {
                Some(same) => same.machines.extend(act.machines),
                None => merged.push(act),
            }
        }
        merged
    }
}

impl Store {
    /// Returns a handle to this store that records the given interface in the operator log.
    pub(crate) fn via(&self, via: &'static str) -> Self {
        Self { via, ..self.clone() }
    }

    pub(super) fn line(&self, act: Act, outcome: String) -> NewOperation {
        let Act { by, operation, machines, detail } = act;
        let operation = operation.to_owned();
        NewOperation { by, via: self.via, operation, machines, detail, outcome }
    }

    /// The line of an act, for the batch that performs it.
    pub(crate) fn line_done(&self, act: Act) -> NewOperation {
        self.line(act, "done".to_owned())
    }

    /// Logs acts whose result is a refusal, which wrote nothing. A batch writes the lines of acts
    /// that are done.
    pub(crate) async fn log_refusal<T, E: ActError>(
        &self,
        acts: impl IntoIterator<Item = Act, IntoIter: Send>,
        done: Result<T, E>,
    ) -> Result<T, E> {
        let outcome = match &done {
            Err(error) if error.is_refusal() => format!("refused: {error}"),
            _ => return done,
        };
        for act in acts {
            // The caller learns of the refusal in any case.
            let _ = self.operation(self.line(act, outcome.clone())).await;
        }
        done
    }
}

/// An error of an act.
pub(crate) trait ActError: Display {
    /// Returns whether the operator log keeps it: the act was refused, rather than impossible now.
    fn is_refusal(&self) -> bool;
}

impl ActError for EffectError {
    fn is_refusal(&self) -> bool {
        !matches!(self, Self::Commit(CommitError::Unavailable(_)))
    }
}

impl<M, E: ActError> ActError for Refused<M, E> {
    fn is_refusal(&self) -> bool {
        self.reason.is_refusal()
    }
}
