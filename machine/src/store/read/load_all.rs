use futures_util::future::join;

use crate::{
    store::{
        backend::FoundRow,
        error::LoadError,
        handle::Store,
        read::{
            load::is_current,
            query::{Page, Query},
        },
    },
    stored::Restore,
};

/// The number of rows read at once when many machines are loaded.
const AT_ONCE: usize = 512;

impl Store {
    /// Loads the machines on a page of a query in one go. A machine that cannot be loaded does not
    /// hide the others.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn load_all<M: Restore + 'static>(
        &self,
        query: &Query,
    ) -> Result<Page<Result<M, LoadError>>, LoadError> {
        let query = query.clone().machine(M::DEFINITION.name.as_ref());
        self.in_parts(&query, |rows| self.restore_all(rows, |machine| machine)).await
    }

    /// Reads the rows on a page of a query in parts, and works on each part while the next one is
    /// read.
    pub(super) async fn in_parts<T, W>(
        &self,
        query: &Query,
        work: impl Fn(Vec<(u64, FoundRow)>) -> W,
    ) -> Result<Page<T>, LoadError>
    where
        W: Future<Output = Result<Vec<T>, LoadError>>,
    {
        let mut left = query.page_limit();
        let mut items = Vec::new();
        let mut rows = self.rows(&query.clone().limit(left.min(AT_ONCE)), true).await?;
        let next = loop {
            let (found, next) = rows;
            left -= found.len();
            let ahead = next.filter(|_| left > 0);
            let reading = async {
                let Some(next) = ahead else { return Ok(None) };
                let query = query.clone().limit(left.min(AT_ONCE)).after(next);
                self.rows(&query, true).await.map(Some)
            };
            let (read, done) = join(reading, work(found)).await;
            items.extend(done?);
            rows = match read? {
                Some(rows) => rows,
                None => break next,
            };
        };
        Ok(Page { items, next })
    }

    /// Makes machines of rows on a thread of the store, and projects each there.
    pub(crate) async fn restore_all<M: Restore + 'static, T: Send + 'static>(
        &self,
        rows: Vec<(u64, FoundRow)>,
        project: impl Fn(M) -> T + Copy + Send + 'static,
    ) -> Result<Vec<Result<T, LoadError>>, LoadError> {
        let definitions = self.definitions_of(&rows).await?;
        let store = self.clone();
        let restored = self.run(move || {
            let restored = rows.into_iter().map(|(_, found)| {
                let machine: M = store.restore_safely(found, &definitions)?;
                let is_current = is_current(&machine);
                Ok(if is_current {
                    Restored::Now(project(machine))
                } else {
                    Restored::Older(machine)
                })
            });
            restored.collect::<Vec<_>>()
        });
        let mut items = Vec::new();
        for restored in restored.await? {
            items.push(match restored {
                Ok(Restored::Now(item)) => Ok(item),
                Ok(Restored::Older(machine)) => self.current(machine).await.map(project),
                Err(error) => Err(error),
            });
        }
        Ok(items)
    }
}

enum Restored<M, T> {
    Now(T),
    /// Its summary has the format of another program.
    Older(M),
}
