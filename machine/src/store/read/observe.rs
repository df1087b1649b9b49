//! The store's interface for views: machines of any kind, whose types the program may not know.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    definition::Definition,
    id::Id,
    journal::{Digest, Summary},
    store::{
        backend::{FoundRow, Messages, Row},
        error::LoadError,
        handle::Store,
        inbox::message::{Delivery, Received},
        read::load::{history, summary_of, value_of},
    },
    stored::{StoredPart, VerifyError},
};

/// A stored machine of any kind, checked as `load` checks it.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) row: Row,
    pub(crate) head: Digest,
    pub(crate) definition: Arc<Definition>,
    /// The newest definition of its kind.
    pub(crate) newest: Arc<Definition>,
    pub(crate) state: usize,
    pub(crate) data: Value,
    pub(crate) context: Value,
    pub(crate) summary: Summary,
}

impl Observed {
    /// The state, as an index into the definition, and its label.
    pub(crate) fn state(&self) -> (usize, &str) {
        (self.state, &self.definition.states[self.state].label)
    }

    /// Returns `true` if a message was for a state that the machine has left.
    pub(crate) fn has_moved_since(&self, message: &Received) -> bool {
        message.seen.is_some_and(|seen| seen != self.summary.transitions)
    }

    /// Returns `true` if its state is a [question](Definition::is_question).
    pub(crate) fn is_question(&self) -> bool {
        self.definition.is_question(self.state)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.definition.states[self.state].terminal
    }
}

impl Store {
    pub(crate) async fn observed_one(&self, id: Id) -> Result<Observed, LoadError> {
        let found = self.found(id).await?;
        let definitions = self.all_definitions().await?;
        self.observed(found, &definitions)
    }

    /// The first message that answers the current question of a machine, if it is in the inbox and
    /// no worker has read it yet. A message that a worker has read did not fit, and does not
    /// prevent an answer.
    pub(crate) async fn queued_answer(
        &self,
        machine: &Observed,
    ) -> Result<Option<Received>, LoadError> {
        if !machine.is_question() {
            return Ok(None);
        }
        let id = machine.row.id;
        let (_, _, queued) = self.inner.backend.task(id).await?;
        for queued in queued.into_iter().filter(|queued| queued.fault.is_none()) {
            let found = self.inner.backend.messages(Messages::One(id, queued.correlation)).await?;
            let answers = |message: &Received| {
                message.status == Delivery::Queued
                    && message.seen == Some(machine.summary.transitions)
            };
            if let Some(answer) = found.into_iter().flatten().find(answers) {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Every stored definition, oldest first.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn definitions(&self) -> Result<Vec<Arc<Definition>>, LoadError> {
        Ok(self.all_definitions().await?.to_vec())
    }

    /// The stored definitions, read again only if there are new ones.
    pub(super) async fn all_definitions(&self) -> Result<Arc<Vec<Arc<Definition>>>, LoadError> {
        Ok(self.inner.definitions.all(&*self.inner.backend).await?)
    }

    /// The problems of the stored definitions that cannot be read.
    pub(crate) async fn broken_definitions(&self) -> Result<Vec<String>, LoadError> {
        Ok(self.inner.backend.definitions().await?.broken)
    }

    pub(crate) fn observed(
        &self,
        found: FoundRow,
        definitions: &[Arc<Definition>],
    ) -> Result<Observed, LoadError> {
        let (row, head) = found.row()?;
        let id = row.id;
        let (context, head) = self.intact(&row, head)?;
        let (definition, state) = placed(&row, definitions)?;
        let newest = definitions.iter().rfind(|known| known.name == definition.name);
        let data = value_of(id, StoredPart::State, &row.state)?;
        let context = value_of(id, StoredPart::Context, &context)?;
        let summary = summary_of(&row)?;
        let newest = Arc::clone(newest.unwrap_or(definition));
        let definition = Arc::clone(definition);
        Ok(Observed { row, head, definition, newest, state, data, context, summary })
    }
}

/// The definition and the state of a row.
pub(super) fn placed<'a>(
    row: &Row,
    definitions: &'a [Arc<Definition>],
) -> Result<(&'a Arc<Definition>, usize), VerifyError> {
    let mut written = definitions.iter();
    let definition = written
        .find(|known| known.fingerprint == row.definition)
        .ok_or_else(|| history(row.id, "its definition is missing from the file".to_owned()))?;
    let state = definition
        .state(&row.status)
        .ok_or_else(|| history(row.id, format!("its definition has no state `{}`", row.status)))?;
    Ok((definition, state))
}
