use super::{
    SqliteStore,
    read::{Listed, line},
};
use crate::store::StoreError;

impl SqliteStore {
    /// The machines with a deadline that is due by the store's clock, the longest overdue first;
    /// at most `limit` of them.
    ///
    /// What fires a deadline is a transition like any other: load the machine, call
    /// `fire_deadline`, commit. A machine stays in the list until that is done, also where a guard
    /// refuses.
    ///
    /// # Errors
    ///
    /// [`StoreError::Busy`] when another process holds the database for too long.
    pub async fn due(&self, limit: usize) -> Result<Vec<Listed>, StoreError> {
        let now = self.shared.clock.now();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.shared
            .thread
            .run(move |connection| {
                let mut select = connection.prepare_cached(
                    "SELECT id, machine, status, session, behind, created_at, updated_at, due_at
                     FROM instance WHERE due_at <= ?1 ORDER BY due_at, id LIMIT ?2",
                )?;
                let mut rows = select.query([now, limit])?;
                let mut due = Vec::new();
                while let Some(row) = rows.next()? {
                    match line(row) {
                        Ok(line) => due.push(line),
                        // One broken row does not hide the rest.
                        Err(error) => tracing::error!(%error, "a row cannot be listed"),
                    }
                }
                Ok(due)
            })
            .await
    }

    /// The time by the store's clock (milliseconds since the Unix epoch).
    #[must_use]
    pub fn now(&self) -> crate::clock::Millis {
        self.shared.clock.now()
    }
}
