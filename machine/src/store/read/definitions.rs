use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{
    definition::{Definition, Fingerprint},
    store::{backend::Backend, error::Unavailable, lock::lock},
};

/// The definitions that the store has, as far as they were read. There are few: one per version of
/// a machine.
#[derive(Debug, Default)]
pub(crate) struct DefinitionCache {
    own: Mutex<HashMap<Fingerprint, Arc<Definition>>>,
    read: Mutex<CachedDefinitions>,
}

/// The stored definitions, oldest first.
#[derive(Debug, Clone, Default)]
struct CachedDefinitions {
    all: Arc<Vec<Arc<Definition>>>,
    /// The number of the newest one before they were read; `None` if some could not be read.
    newest: Option<u64>,
}

impl DefinitionCache {
    /// A definition of this program, to be written to the store.
    pub(crate) fn own(&self, definition: &'static Definition) -> Arc<Definition> {
        let mut own = lock(&self.own);
        let entry = own.entry(definition.fingerprint);
        Arc::clone(entry.or_insert_with(|| Arc::new(definition.clone())))
    }

    /// The stored definitions, read again if one of these is missing: another process may have
    /// added it since.
    pub(crate) async fn with(
        &self,
        backend: &dyn Backend,
        wanted: &[Fingerprint],
    ) -> Result<Arc<Vec<Arc<Definition>>>, Unavailable> {
        let known = self.known();
        let has =
            |wanted: &Fingerprint| known.iter().any(|definition| definition.fingerprint == *wanted);
        if wanted.iter().all(has) {
            return Ok(known);
        }
        let newest = backend.newest_definition().await?;
        self.read(backend, newest).await
    }

    /// Every stored definition, read again if there are new ones.
    pub(crate) async fn all(
        &self,
        backend: &dyn Backend,
    ) -> Result<Arc<Vec<Arc<Definition>>>, Unavailable> {
        let newest = backend.newest_definition().await?;
        let known = lock(&self.read).clone();
        if known.newest == Some(newest) {
            return Ok(known.all);
        }
        self.read(backend, newest).await
    }

    /// `newest` was the number of the newest one. If others come in between, they are read once
    /// more.
    async fn read(
        &self,
        backend: &dyn Backend,
        newest: u64,
    ) -> Result<Arc<Vec<Arc<Definition>>>, Unavailable> {
        let read = backend.definitions().await?;
        let newest = read.broken.is_empty().then_some(newest);
        let all = Arc::new(read.intact);
        *lock(&self.read) = CachedDefinitions { all: Arc::clone(&all), newest };
        Ok(all)
    }

    pub(crate) fn known(&self) -> Arc<Vec<Arc<Definition>>> {
        Arc::clone(&lock(&self.read).all)
    }
}
