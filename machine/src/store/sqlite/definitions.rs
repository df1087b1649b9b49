use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use rusqlite::{Connection, OptionalExtension, params};

use super::{failure::Failure, value::Columns};
use crate::{
    definition::{Definition, Fingerprint},
    journal::{Digest, DigestKey},
    store::backend::Definitions,
};

/// The numbers of definitions in the file, by fingerprint. Definitions are never deleted.
#[derive(Debug)]
pub(super) struct Numbers {
    key: DigestKey,
    known: HashMap<Fingerprint, i64>,
    /// The definitions that the open transaction has written.
    added: Vec<Fingerprint>,
}

impl Numbers {
    pub(super) fn new(key: DigestKey) -> Self {
        Self { key, known: HashMap::new(), added: Vec::new() }
    }

    /// The number of a definition, which is written if it is among `given` and missing in the file.
    pub(super) fn get(
        &mut self,
        connection: &Connection,
        fingerprint: Fingerprint,
        given: &[Arc<Definition>],
    ) -> Result<i64, Failure> {
        if let Some(no) = self.known.get(&fingerprint) {
            return Ok(*no);
        }
        let stored = connection
            .prepare_cached("SELECT no FROM definition WHERE fingerprint = ?1")?
            .query_row([number(fingerprint)], |row| row.get(0))
            .optional()?;
        let no = if let Some(no) = stored {
            no
        } else {
            let definition = given.iter().find(|definition| definition.fingerprint == fingerprint);
            let definition = definition.ok_or_else(|| {
                Failure::Refused(format!(
                    "the definition {fingerprint} is in neither batch nor file"
                ))
            })?;
            let body = serde_json::to_string(definition)
                .map_err(|error| Failure::Refused(format!("a definition as JSON: {error}")))?;
            let seal = seal(&self.key, fingerprint, &body, &definition.name);
            connection
                .prepare_cached(
                    "INSERT INTO definition (machine, fingerprint, body, seal)
                     VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![definition.name, number(fingerprint), body, seal.bytes()])?;
            self.added.push(fingerprint);
            connection.last_insert_rowid()
        };
        self.known.insert(fingerprint, no);
        Ok(no)
    }

    pub(super) fn committed(&mut self) {
        self.added.clear();
    }

    pub(super) fn rolled_back(&mut self) {
        for fingerprint in self.added.drain(..) {
            self.known.remove(&fingerprint);
        }
    }
}

/// The definitions of a file, as rows refer to them.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<i64, Name>);

#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) machine: String,
    pub(super) fingerprint: Fingerprint,
}

impl Names {
    /// Reads those that were added since the last time.
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let newest = self.0.last_key_value().map_or(i64::MIN, |(newest, _)| *newest);
        let mut select = connection
            .prepare_cached("SELECT no, fingerprint, machine FROM definition WHERE no > ?1")?;
        let mut rows = select.query([newest])?;
        while let Some(row) = rows.next()? {
            let row = Columns(row);
            let (Ok(no), Ok(fingerprint)) = (row.integer(0, "no"), row.integer(1, "fingerprint"))
            else {
                continue;
            };
            let fingerprint = Fingerprint::from_u64(fingerprint.cast_unsigned());
            if let Ok(machine) = row.text(2, "machine") {
                self.0.insert(no, Name { machine: machine.to_owned(), fingerprint });
            }
        }
        Ok(())
    }

    /// The numbers of the definitions of a machine, or of one definition.
    pub(super) fn numbers(
        &self,
        machine: Option<&str>,
        fingerprint: Option<Fingerprint>,
    ) -> Vec<i64> {
        let matches = |name: &Name| {
            machine.is_none_or(|machine| name.machine == machine)
                && fingerprint.is_none_or(|fingerprint| name.fingerprint == fingerprint)
        };
        let found = self.0.iter().filter(|(_, name)| matches(name));
        found.map(|(number, _)| *number).collect()
    }

    pub(super) fn get(&self, no: i64) -> Result<&Name, String> {
        self.0.get(&no).ok_or_else(|| "its definition is missing in the file".to_owned())
    }
}

/// Every stored definition, and what is wrong with those that cannot be read or are missing.
pub(super) fn read(connection: &Connection, key: &DigestKey) -> rusqlite::Result<Definitions> {
    let mut select = connection
        .prepare_cached("SELECT fingerprint, body, machine, seal FROM definition ORDER BY no")?;
    let mut rows = select.query([])?;
    let mut definitions = Definitions::default();
    while let Some(row) = rows.next()? {
        let row = Columns(row);
        let stored = row.integer(0, "fingerprint").and_then(|fingerprint| {
            let fingerprint = Fingerprint::from_u64(fingerprint.cast_unsigned());
            let (body, machine) = (row.text(1, "body")?, row.text(2, "machine")?);
            let definition = parsed(fingerprint, body, machine)?;
            if row.digest(3, "seal")? != seal(key, fingerprint, body, machine) {
                return Err(format!("{fingerprint} was changed: the seal does not match"));
            }
            Ok(definition)
        });
        match stored {
            Ok(definition) => definitions.intact.push(Arc::new(definition)),
            Err(reason) => definitions.broken.push(format!("definition {reason}")),
        }
    }
    // Jumps from one number to the next in the index, however many machines there are.
    let mut select = connection.prepare_cached(
        "WITH RECURSIVE used (number) AS (
             SELECT min(definition) FROM instance UNION ALL
             SELECT (SELECT min(definition) FROM instance WHERE definition > number) FROM used
             WHERE number IS NOT NULL)
         SELECT number FROM used
         WHERE number IS NOT NULL AND number NOT IN (SELECT no FROM definition)",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let no = row.get_ref(0)?.as_i64().unwrap_or(0);
        definitions.broken.push(format!("definition number {no} is missing in the file"));
    }
    Ok(definitions)
}

/// The definition, if the text is valid and has this fingerprint and name.
fn parsed(fingerprint: Fingerprint, body: &str, machine: &str) -> Result<Definition, String> {
    match serde_json::from_str::<Definition>(body) {
        Ok(definition) if definition.fingerprint == fingerprint && definition.name == machine => {
            Ok(definition)
        }
        Ok(_) => Err(format!("{fingerprint} was changed")),
        Err(error) => Err(format!("{fingerprint} cannot be read: {error}")),
    }
}

/// The seal of a definition. It covers also what the fingerprint leaves out, such as labels, because
/// views show them.
fn seal(key: &DigestKey, fingerprint: Fingerprint, body: &str, machine: &str) -> Digest {
    let fingerprint = fingerprint.as_u64().to_le_bytes();
    key.digest(&[b"definition", &fingerprint, machine.as_bytes(), body.as_bytes()])
}

/// The fingerprint as stored; SQLite integers are signed.
fn number(fingerprint: Fingerprint) -> i64 {
    fingerprint.as_u64().cast_signed()
}
