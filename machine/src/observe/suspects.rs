use std::collections::BTreeMap;

use crate::{
    clock::Millis,
    id::Id,
    store::{
        backend::{Attempts, FoundRow},
        error::LoadError,
        handle::Store,
        read::query::Query,
        write::attempt::CONTRACTS,
    },
};

impl Store {
    /// The executions that may be in doubt, contradicted or overdue, with the time until which a
    /// call that is in flight may run.
    pub(super) async fn suspects(&self) -> Result<BTreeMap<Id, Option<Millis>>, LoadError> {
        let unanswered = self.inner.backend.attempts(Attempts::Unanswered).await?;
        let unanswered = unanswered.into_iter().flatten();
        let mut suspects: BTreeMap<Id, Option<Millis>> = unanswered
            .filter(|attempt| attempt.space == CONTRACTS)
            .map(|attempt| (attempt.by, attempt.expires_at))
            .collect();
        let mut next = Some(Query::new().contradicted().limit(1000));
        while let Some(rows) = self.next_rows(&mut next, false).await? {
            for (_, found) in rows {
                if let FoundRow::Row(row, _) = found {
                    suspects.entry(row.id).or_default();
                }
            }
        }
        Ok(suspects)
    }
}
