use std::{sync::Mutex, time::Duration};

use crate::{
    id::Id,
    store::{
        error::LoadError,
        handle::Store,
        lock::lock,
        read::{observe::placed, query::Query},
    },
};

/// The unreadable rows that a scan of the machines that have not ended found, and the time until
/// which they are cached.
#[derive(Debug, Default)]
pub(crate) struct BrokenScan(Mutex<Option<(Duration, BrokenRows)>>);

/// Each with its id, if readable, and its error.
type BrokenRows = Vec<(Option<Id>, String)>;

/// The time for which a scan counts, as a multiple of the time that it takes: a view that is
/// loaded again and again spends little time on what hardly ever changes.
const REST: u32 = 10;

/// The number of rows that are read at once.
const PAGE: usize = 1000;

impl Store {
    /// The unreadable rows of machines that have not ended: no index lists rows that were edited by
    /// hand. Of those that have ended, [`verify_all`](Self::verify_all) finds them.
    pub(crate) async fn broken_rows(&self) -> Result<BrokenRows, LoadError> {
        let known = lock(&self.inner.broken.0).clone();
        let began = self.inner.clock.uptime();
        if let Some((until, rows)) = known
            && began < until
        {
            return self.still_broken(rows).await;
        }
        let rows = self.scan_live().await?;
        let now = self.inner.clock.uptime();
        let until = now + now.saturating_sub(began) * REST;
        *lock(&self.inner.broken.0) = Some((until, rows.clone()));
        Ok(rows)
    }

    async fn scan_live(&self) -> Result<BrokenRows, LoadError> {
        let definitions = self.all_definitions().await?;
        let mut broken = Vec::new();
        let mut next = Some(Query::new().live().limit(PAGE));
        while let Some(rows) = self.next_rows(&mut next, true).await? {
            for (_, found) in rows {
                let id = found.id();
                let checked = found.row().and_then(|(row, head)| {
                    self.intact(&row, head)?;
                    Ok(placed(&row, &definitions).map(drop)?)
                });
                broken.extend(checked.err().map(|error| (id, error.to_string())));
            }
        }
        Ok(broken)
    }

    /// Removes the rows that were restored or deleted since.
    async fn still_broken(&self, mut rows: BrokenRows) -> Result<BrokenRows, LoadError> {
        let mut readable = Vec::new();
        for id in rows.iter().filter_map(|(id, _)| *id) {
            match self.observed_one(id).await {
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Ok(_) | Err(LoadError::NotFound { .. }) => readable.push(id),
                Err(_) => {}
            }
        }
        rows.retain(|(id, _)| id.is_none_or(|id| !readable.contains(&id)));
        Ok(rows)
    }
}
