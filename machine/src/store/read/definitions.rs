use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    definition::{Definition, Fingerprint},
    store::{backend::Backend, error::Unavailable},
};

/// The definitions that the store has, as far as they were read. There are few: one per version of a
/// machine.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    own: Mutex<HashMap<Fingerprint, Arc<Definition>>>,
    read: Mutex<Arc<Vec<Arc<Definition>>>>,
}

impl Definitions {
    /// A definition of this program, to be written to the store.
    pub(crate) fn own(&self, definition: &'static Definition) -> Arc<Definition> {
        // Poisoning is harmless: each collection is changed in one step.
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = own.entry(definition.fingerprint);
        Arc::clone(entry.or_insert_with(|| Arc::new(definition.clone())))
    }

    /// The stored definitions, read again if one of these is missing: another process may have added
    /// it since.
    pub(crate) async fn with(
        &self,
        backend: &dyn Backend,
        wanted: &[Fingerprint],
    ) -> Result<Arc<Vec<Arc<Definition>>>, Unavailable> {
        let known = Arc::clone(&self.read.lock().unwrap_or_else(PoisonError::into_inner));
        let has =
            |wanted: &Fingerprint| known.iter().any(|definition| definition.fingerprint == *wanted);
        if wanted.iter().all(has) {
            return Ok(known);
        }
        let read = Arc::new(backend.definitions().await?.intact);
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&read);
        Ok(read)
    }
}
