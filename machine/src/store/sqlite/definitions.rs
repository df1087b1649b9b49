use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, params};

use super::thread::Thread;
use crate::{
    definition::{Definition, Fingerprint},
    store::StoreError,
};

/// A cache of the definitions in the file.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// This program's definitions that are in the file.
    kept: Mutex<BTreeSet<Fingerprint>>,
    /// Definitions read from the file, by machine. There are few: one per version.
    read: Mutex<BTreeMap<String, Vec<Arc<Definition>>>>,
}

impl Definitions {
    /// Writes a definition of this program to the file, once per process.
    pub(super) async fn keep(
        &self,
        thread: &Thread,
        definition: &'static Definition,
    ) -> Result<(), StoreError> {
        let fingerprint = definition.fingerprint;
        // Poisoning is harmless: each collection is changed in one step.
        if self.kept.lock().unwrap_or_else(PoisonError::into_inner).contains(&fingerprint) {
            return Ok(());
        }
        thread.run(move |connection| put(connection, definition)).await?;
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(fingerprint);
        Ok(())
    }

    /// Every stored definition of a machine, read again if one of these fingerprints is missing.
    pub(super) fn read(
        &self,
        connection: &Connection,
        machine: &str,
        mut wanted: impl Iterator<Item = Fingerprint>,
    ) -> Result<Vec<Arc<Definition>>, StoreError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.get(machine);
        let has = |fingerprint| {
            let mut known = known.into_iter().flatten();
            known.any(|definition: &Arc<Definition>| definition.fingerprint == fingerprint)
        };
        if let Some(known) = known
            && wanted.all(has)
        {
            return Ok(known.clone());
        }
        // Another process may have added some since.
        let all = of_machine(connection, machine)?.into_iter().map(Arc::new);
        let all: Vec<Arc<Definition>> = all.collect();
        read.insert(machine.to_owned(), all.clone());
        Ok(all)
    }
}

/// Every stored definition of a machine. Skips rows that were changed: the machines that need them
/// fail to load.
pub(super) fn of_machine(
    connection: &Connection,
    machine: &str,
) -> Result<Vec<Definition>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT fingerprint, body FROM definition WHERE machine = ?1 ORDER BY fingerprint",
    )?;
    let rows = select.query_map([machine], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut definitions = Vec::new();
    for row in rows {
        let (fingerprint, body) = row?;
        definitions.extend(parsed(restored(fingerprint), &body));
    }
    Ok(definitions)
}

/// The fingerprint as stored; SQLite integers are signed.
pub(super) fn stored(fingerprint: Fingerprint) -> i64 {
    fingerprint.as_u64().cast_signed()
}

/// The inverse of [`stored`].
pub(super) fn restored(number: i64) -> Fingerprint {
    Fingerprint::from_u64(number.cast_unsigned())
}

fn put(connection: &Connection, definition: &Definition) -> Result<(), StoreError> {
    let body = serde_json::to_string(definition).map_err(StoreError::Definition)?;
    // Docs and conditions are not part of the fingerprint; the newest program updates them.
    connection
        .prepare_cached(
            "INSERT INTO definition (fingerprint, machine, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (fingerprint) DO UPDATE SET body = excluded.body
             WHERE body <> excluded.body",
        )?
        .execute(params![stored(definition.fingerprint), definition.name, body])?;
    Ok(())
}

/// The definition, if the text is valid and has this fingerprint.
fn parsed(fingerprint: Fingerprint, body: &str) -> Option<Definition> {
    match serde_json::from_str::<Definition>(body) {
        Ok(definition) if definition.fingerprint == fingerprint => Some(definition),
        Ok(_) => {
            tracing::error!(%fingerprint, "a stored definition was changed");
            None
        }
        Err(error) => {
            tracing::error!(%fingerprint, %error, "a stored definition cannot be read");
            None
        }
    }
}
