//! Reads of a whole store, for tools that look after it.

use super::Observer;
use crate::{
    definition::Definition,
    id::Id,
    store::{Check, LoadError, Query, Unavailable, VerifyReport},
};

impl Observer {
    /// The ids of all machines, in the order of their creation. Rows without a readable id are left
    /// out.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn ids(&self) -> Result<Vec<Id>, LoadError> {
        self.ids_of(Query::new().limit(10_000)).await
    }

    /// The ids of the machines that end with these hexadecimal digits, oldest first. None if there
    /// are fewer than 8 digits: the index has the last 8 of each id.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn ids_ending(&self, digits: &str) -> Result<Vec<Id>, LoadError> {
        let Some(tail) = digits.len().checked_sub(8).and_then(|from| digits.get(from..)) else {
            return Ok(Vec::new());
        };
        let Ok(tail) = u32::from_str_radix(tail, 16) else { return Ok(Vec::new()) };
        let mut ids = self.ids_of(Query::new().tail(tail.to_be_bytes()).limit(1000)).await?;
        ids.retain(|id| id.to_string().replace('-', "").ends_with(digits));
        Ok(ids)
    }

    async fn ids_of(&self, query: Query) -> Result<Vec<Id>, LoadError> {
        let (mut ids, mut next) = (Vec::new(), Some(query));
        while let Some(rows) = self.store.next_rows(&mut next, false).await? {
            ids.extend(rows.iter().filter_map(|(_, found)| found.id()));
        }
        Ok(ids)
    }

    /// The errors of the stored definitions that cannot be read.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn broken_definitions(&self) -> Result<Vec<String>, LoadError> {
        self.store.broken_definitions().await
    }

    /// Verifies the history of one machine of any kind, as
    /// [`Store::verify_all`](crate::store::Store::verify_all) does for all.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotFound`] if there is no such machine, [`LoadError::Unavailable`] if the
    /// storage cannot be read now. Any other defect is in the report.
    pub async fn verify(&self, id: Id) -> Result<VerifyReport, LoadError> {
        self.store.verifier().machine(id).await
    }

    /// Reads every machine as views do, those of the kinds that the program has declared when it
    /// opened the store also as the program does, and reports those that cannot be read. Calls
    /// `progress` with the number of machines so far.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn check(&self, progress: impl FnMut(u64)) -> Result<Check, LoadError> {
        self.store.check_all(progress).await
    }

    /// Reports the machines that a program with these definitions could not read.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the storage cannot be read now.
    pub async fn check_against(&self, definitions: &[Definition]) -> Result<Check, Unavailable> {
        self.store.check_against(definitions).await
    }
}
