use std::collections::HashMap;

use crate::{
    contract::{AnyExecution, IdempotencyKey, execution},
    effects::{done::not_trusted, error::EffectError},
    id::Id,
    store::{
        backend::{Attempts, FoundRow},
        error::{CommitError, LoadError},
        handle::Store,
        read::query::Query,
        write::attempt::{CONTRACTS, KeyAttempt},
    },
    stored::{Hold, Index},
    telemetry,
};

/// The maximum number of checks for a difference, repeated while other processes commit in between.
const LOOKS: usize = 20;

impl Store {
    /// Checks that the attempts at a key are all that its executions know of. Whether the key is
    /// free is decided by the attempts alone, in the transaction that takes it; this shows whether
    /// an attempt was removed.
    pub(super) async fn check_attempts(
        &self,
        id: Id,
        key: &IdempotencyKey,
    ) -> Result<(), EffectError> {
        for _ in 0..LOOKS {
            match self.difference(id, key).await {
                Ok(None) => return Ok(()),
                Ok(Some((by, version, reason))) => {
                    // Rows and attempts change together: if the row is still the same, no commit
                    // came between the two reads.
                    let found = self.found(by).await?;
                    if matches!(found, FoundRow::Row(row, _) if row.version == version) {
                        return Err(EffectError::Commit(CommitError::BrokenAttempt { id, reason }));
                    }
                }
                Err(error) => return Err(not_trusted(id, error)),
            }
        }
        // The key changes owners all the time. The transaction decides who gets it.
        Ok(())
    }

    /// Finds an execution with this key whose record disagrees with its attempt: its id, its
    /// version, and the reason.
    async fn difference(
        &self,
        id: Id,
        key: &IdempotencyKey,
    ) -> Result<Option<(Id, u64, String)>, LoadError> {
        let name = execution::DEFINITION.name.as_ref();
        let mut next = Some(Query::new().machine(name).key(key.as_str()));
        let mut holds: HashMap<Id, (Hold, u64)> = HashMap::new();
        while let Some(rows) = self.next_rows(&mut next, true).await? {
            let definitions = self.definitions_of(&rows).await?;
            for (_, found) in rows {
                if matches!(&found, FoundRow::Row(row, _) if row.id == id) {
                    continue;
                }
                // A row that was changed says nothing, and does not keep others from the key.
                let execution: AnyExecution = match self.restore(found, &definitions) {
                    Ok(execution) => execution,
                    Err(error) => {
                        telemetry::Skipped { error: error.class() }.emit();
                        continue;
                    }
                };
                let hold = Index::of(&execution).map_or(Hold::Held, |index| index.hold);
                if hold != Hold::Free {
                    holds.insert(execution.id(), (hold, execution.journal().version()));
                }
            }
        }
        if holds.is_empty() {
            return Ok(None);
        }
        let attempts = self.inner.backend.attempts(Attempts::OfKey(key.to_string())).await?;
        let mut newest: HashMap<Id, KeyAttempt> = HashMap::new();
        for attempt in attempts {
            let attempt = attempt.map_err(LoadError::from)?;
            if attempt.space == CONTRACTS {
                newest.insert(attempt.by, attempt);
            }
        }
        let missing = holds
            .into_iter()
            .find(|(by, (hold, _))| newest.get(by).is_none_or(|attempt| attempt.hold != *hold));
        Ok(missing.map(|(by, (hold, version))| {
            let reason = format!("{by} records `{hold:?}` for its key, but its attempt does not");
            (by, version, reason)
        }))
    }
}
