use serde::Serialize;

use super::{Error, Operator, operator::distinct};
use crate::{
    contract::{Decision, Gate},
    effects::{Batch, Change, retry::Retry},
    id::Id,
    journal::Digest,
    language::Phrase,
};

/// The answer to a gate, as it is stored.
#[derive(Debug, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Decided {
    /// The gate.
    pub gate: Id,
    /// The execution that it guards.
    pub execution: Id,
    /// It may run.
    pub approved: bool,
    /// The name of the person.
    pub by: String,
    /// When (milliseconds since the Unix epoch, by the clock of the store).
    pub at: i64,
}

impl Operator<'_> {
    /// The gates with these ids, to approve or decline them.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn gates(&self, operation: &'static str, ids: &[Id]) -> Result<Vec<Gate>, Error> {
        let ids = &*distinct(ids);
        let mut gates = Vec::with_capacity(ids.len());
        for id in ids {
            let gate = self.gate(operation, *id).await;
            gates.push(self.checked(operation, ids, "", gate).await?);
        }
        Ok(gates)
    }

    async fn gate(&self, operation: &str, id: Id) -> Result<Gate, Error> {
        let gate = match self.store.gate(id).await {
            Ok(gate) => return Ok(gate),
            Err(error) => Err(error.into()),
        };
        self.is_execution(operation, id).await?;
        self.or_instead(id, gate).await
    }

    /// Lets the actions behind these gates run, once. All of them, or none. Each has the digest of
    /// the question that was shown; `None` if a part of it was hidden, which is refused.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn approve(&self, gates: Vec<(Gate, Option<Digest>)>) -> Result<Vec<Decided>, Error> {
        let answers = gates.into_iter().map(|(gate, shown)| {
            // The digest of no text: the store refuses it, unless there is a reason that comes
            // first.
            let shown = shown.unwrap_or(Digest::ZERO);
            (ids_of(&gate), Change::approve(gate, shown, self.by))
        });
        self.decide(answers.collect()).await
    }

    /// Cancels the actions behind these gates. All of them, or none.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn decline(
        &self,
        gates: Vec<Gate>,
        reason: Option<&str>,
    ) -> Result<Vec<Decided>, Error> {
        let reason = reason.unwrap_or(Phrase::Declined.english());
        let answers = gates.into_iter().map(|gate| {
            let asked = ids_of(&gate);
            (asked, Change::decline(gate, reason, self.by))
        });
        self.decide(answers.collect()).await
    }

    async fn decide(
        &self,
        answers: Vec<((Id, Id), Change<'_, Gate, Decision>)>,
    ) -> Result<Vec<Decided>, Error> {
        let (asked, mut answers): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        let batch = answers.iter_mut().fold(self.store.batch(), Batch::change);
        batch.write_with(Retry::default()).await?;
        let decisions = answers.into_iter().filter_map(|answer| answer.finish().ok());
        let decided = asked.into_iter().zip(decisions);
        let decided = decided.map(|((gate, execution), Decision { approved, by, at, .. })| {
            Decided { gate, execution, approved, by, at }
        });
        Ok(decided.collect())
    }
}

fn ids_of(gate: &Gate) -> (Id, Id) {
    (gate.id(), gate.approval().execution())
}
