use serde::Serialize;

use crate::{
    actor::{Actor, Human},
    clock::Millis,
    id::Id,
    journal::{Digest, DigestKey},
    store::{
        backend::WriteBatch,
        error::{LoadError, Unavailable},
        handle::Store,
        read::query::Page,
    },
};

/// An action of a person on the machines of a store. See [`Store::operations`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Operation {
    /// Operations are numbered from 1 in the order in which they began.
    pub number: u64,
    /// When it began, by the clock of the store (milliseconds since the Unix epoch).
    pub at: Millis,
    /// The name of the person.
    pub by: String,
    /// The interface: `cli`, `http`, or `program` for a method of [`Store`].
    pub via: String,
    /// The action, such as `approve`.
    pub operation: String,
    /// The machines that it concerns.
    pub machines: Vec<Id>,
    /// More about it, at most 1 KiB, without payloads and secrets.
    pub detail: String,
    /// The outcome, at most 1 KiB. `None` only if an older version of the library was interrupted.
    pub outcome: Option<String>,
}

/// An operator's action on a machine. The batch that performs it also writes its line of the
/// operator log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) by: String,
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

    /// Its line of the operator log, which gets its number and its time when it is written.
    pub(crate) fn line(self, store: &Store, outcome: &str) -> Operation {
        let Self { by, operation, machines, detail } = self;
        let (via, operation) = (store.via.to_owned(), operation.to_owned());
        let outcome = Some(outcome.to_owned());
        Operation { number: 0, at: 0, by, via, operation, machines, detail, outcome }
    }
}

/// The longest detail and the longest outcome, in bytes.
const MAX_BYTES: usize = 1024;

/// At the end of a text that was cut.
const CUT: &str = "…";

impl Operation {
    /// As it is written: with a number and a time, and without what is too long.
    pub(crate) fn numbered(self, number: u64, at: Millis) -> Self {
        let (detail, outcome) = (bounded(&self.detail), self.outcome.as_deref().map(bounded));
        Self { number, at, detail, outcome, ..self }
    }

    /// Shows that the operation is as it was written.
    pub(crate) fn seal(&self, key: &DigestKey) -> Digest {
        let machines: Vec<u8> = self.machines.iter().flat_map(|id| *id.bytes()).collect();
        key.digest(&[
            b"operation",
            &self.number.to_le_bytes(),
            &self.at.to_le_bytes(),
            self.by.as_bytes(),
            self.via.as_bytes(),
            self.operation.as_bytes(),
            &machines,
            self.detail.as_bytes(),
            &[u8::from(self.outcome.is_some())],
            self.outcome.as_deref().unwrap_or_default().as_bytes(),
        ])
    }
}

impl Store {
    /// A page of the operator log, newest first; at most `limit` operations, and at least one. To
    /// read the next page, pass [`Page::next`] as `after`. An altered operation is an error at its
    /// position.
    ///
    /// The batch that carries out an act also logs it; a refused act gets a separate line. Pruning,
    /// which takes several batches, gets a line when it begins, and another one with its outcome.
    /// Operations of a program without a person are only in the journals of its machines.
    ///
    /// ```
    /// # async fn example(store: &machine::store::Store) -> Result<(), machine::store::Unavailable> {
    /// for operation in store.operations(20, None).await?.items.iter().flatten() {
    ///     let outcome = operation.outcome.as_deref().unwrap_or_default();
    ///     println!("{} {}: {outcome}", operation.by, operation.operation);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the storage cannot be read now.
    pub async fn operations(
        &self,
        limit: usize,
        after: Option<u64>,
    ) -> Result<Page<Result<Operation, LoadError>, u64>, Unavailable> {
        let limit = limit.max(1);
        // One more, to know whether there is another page.
        let mut found = self.inner.backend.operations(after, limit.saturating_add(1)).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(number, _)| *number);
        let items = found.into_iter().map(|(_, found)| found.map_err(LoadError::from)).collect();
        Ok(Page { items, next })
    }

    /// The store for an act of a person: the methods that make one write its line, and the caller
    /// logs a refusal.
    pub(crate) fn acting(&self, act: Act) -> Self {
        Self { act: Some(act), ..self.clone() }
    }

    /// Writes the line of the act in a separate batch.
    pub(crate) async fn log(&self, outcome: &str) -> Result<(), Unavailable> {
        match self.act.clone() {
            Some(act) => self.operation(act.line(self, outcome)).await,
            None => Ok(()),
        }
    }

    /// Writes a line of the operator log that no other write has with it. After an error the line
    /// may be there.
    async fn operation(&self, operation: Operation) -> Result<(), Unavailable> {
        let batch = WriteBatch { log: vec![operation], ..self.new_batch() };
        // It has no preconditions, so nothing in it can be rejected.
        self.inner.backend.apply(batch).await.map(drop)
    }
}

fn bounded(text: &str) -> String {
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    format!("{}{CUT}", &text[..text.floor_char_boundary(MAX_BYTES - CUT.len())])
}

#[cfg(test)]
mod tests;
