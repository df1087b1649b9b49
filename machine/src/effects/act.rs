//! Acts of people, for the operator log.

use std::fmt::Display;

use crate::{
    actor::{Actor, Human},
    id::Id,
    store::{
        error::{CommitError, Unavailable},
        handle::Store,
        operation::NewOperation,
    },
};

/// An operator's action on a machine. The batch that performs it also writes its line of the operator log.
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

    pub(crate) fn line(&self, act: Act, outcome: Option<String>) -> NewOperation {
        let Act { by, operation, machines, detail } = act;
        let operation = operation.to_owned();
        NewOperation { by, via: self.via, operation, machines, detail, outcome }
    }

    /// Logs an act that was refused, and so wrote nothing.
    pub(crate) async fn refuse(&self, act: Act, reason: impl Display) -> Result<u64, Unavailable> {
        self.operation(self.line(act, Some(format!("refused: {reason}")))).await
    }

    /// Logs these acts if the error is a refusal.
    pub(crate) async fn refuse_all(&self, acts: Vec<Act>, error: &CommitError) {
        if matches!(error, CommitError::Unavailable(_)) {
            return;
        }
        for act in acts {
            // The caller learns of the refusal in any case.
            let _ = self.refuse(act, error).await;
        }
    }
}
