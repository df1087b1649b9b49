use rusqlite::params;

use super::{
    SqliteStore,
    read::{Listed, line},
};
use crate::{clock::Millis, store::StoreError};

impl SqliteStore {
    /// The machines with a deadline that is due by the store's clock, most overdue first; at most
    /// `limit` of them. `after` is the last item of the previous page.
    ///
    /// Firing a deadline is a transition: load the machine, call `fire_deadline`, commit. A machine
    /// stays due until that is committed, also if a guard refuses.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] if another process locks the database for too long.
    pub async fn due(
        &self,
        after: Option<&Listed>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let now = self.shared.clock.now();
        let (due_at, id) = match after {
            None => (Millis::MIN, String::new()),
            Some(last) => (last.due_at.unwrap_or(Millis::MIN), last.id.to_string()),
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.shared
            .thread
            .run(move |connection| {
                let mut select = connection.prepare_cached(
                    "SELECT id, machine, status, session, behind, created_at, updated_at, due_at
                     FROM instance WHERE due_at <= ?1 AND (due_at, id) > (?2, ?3)
                     ORDER BY due_at, id LIMIT ?4",
                )?;
                let mut rows = select.query(params![now, due_at, id, limit])?;
                let mut due = Vec::new();
                while let Some(row) = rows.next()? {
                    match line(row) {
                        Ok(line) => due.push(line),
                        // A malformed row does not hide the rest.
                        Err(error) => tracing::error!(%error, "a row cannot be listed"),
                    }
                }
                Ok(due)
            })
            .await
    }

    /// The current time of the store's clock (milliseconds since the Unix epoch).
    #[must_use]
    pub fn now(&self) -> Millis {
        self.shared.clock.now()
    }
}
