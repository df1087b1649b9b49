use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use rusqlite::{Connection, params};

use super::{
    cached::{Cached, Keyed},
    failure::RollbackCause,
    value::Columns,
};
use crate::{
    definition::{Definition, Fingerprint},
    journal::{Digest, DigestKey},
    store::{backend::DefinitionRows, error::Unavailable},
};

/// The numbers of definitions in the file, by fingerprint. Definitions are never deleted.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    known: HashMap<Fingerprint, i64>,
    /// The definitions that the open transaction has written.
    added: Vec<Fingerprint>,
}

impl Numbers {
    /// The number of a definition, which is written if it is among `given` and missing in the file.
    pub(super) fn get(
        &mut self,
        db: Keyed<'_>,
        fingerprint: Fingerprint,
        given: &[Arc<Definition>],
    ) -> Result<i64, RollbackCause> {
        if let Some(no) = self.known.get(&fingerprint) {
            return Ok(*no);
        }
        let stored = db.find(
            "SELECT no FROM definition WHERE fingerprint = ?1",
            [number(fingerprint)],
            |row| row.get(0),
        )?;
        let no = if let Some(no) = stored {
            no
        } else {
            let definition = given.iter().find(|definition| definition.fingerprint == fingerprint);
            let definition = definition.ok_or_else(|| {
                let reason = format!("the definition {fingerprint} is in neither batch nor file");
                RollbackCause(Unavailable::other(reason))
            })?;
            let body = serde_json::to_string(definition).map_err(|error| {
                RollbackCause(Unavailable::other(format!("a definition as JSON: {error}")))
            })?;
            let seal = seal(db.key, fingerprint, &body, &definition.name);
            db.run(
                "INSERT INTO definition (machine, fingerprint, body, seal)
                     VALUES (?1, ?2, ?3, ?4)",
                params![definition.name, number(fingerprint), body, seal.bytes()],
            )?;
            self.added.push(fingerprint);
            db.last_insert_rowid()
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
pub(super) struct Names(BTreeMap<i64, DefinitionName>);

#[derive(Debug, Clone)]
pub(super) struct DefinitionName {
    pub(super) machine: String,
    pub(super) fingerprint: Fingerprint,
}

impl Names {
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let newest = self.0.last_key_value().map_or(i64::MIN, |(newest, _)| *newest);
        let mut select = connection
            .prepare_cached("SELECT no, fingerprint, machine FROM definition WHERE no > ?1")?;
        let mut rows = select.query([newest])?;
        while let Some(row) = rows.next()? {
            let row = Columns(row);
            let (Ok(no), Ok(fingerprint)) =
                (row.at(0, "no").integer(), row.at(1, "fingerprint").integer())
            else {
                continue;
            };
            let fingerprint = Fingerprint(fingerprint.cast_unsigned());
            if let Ok(machine) = row.at(2, "machine").text() {
                self.0.insert(no, DefinitionName { machine: machine.to_owned(), fingerprint });
            }
        }
        Ok(())
    }

    pub(super) fn numbers(
        &self,
        machine: Option<&str>,
        fingerprint: Option<Fingerprint>,
    ) -> Vec<i64> {
        let matches = |name: &DefinitionName| {
            machine.is_none_or(|machine| name.machine == machine)
                && fingerprint.is_none_or(|fingerprint| name.fingerprint == fingerprint)
        };
        let found = self.0.iter().filter(|(_, name)| matches(name));
        found.map(|(number, _)| *number).collect()
    }

    pub(super) fn get(&self, no: i64) -> Result<&DefinitionName, String> {
        self.0.get(&no).ok_or_else(|| "its definition is missing from the file".to_owned())
    }
}

pub(super) fn newest(connection: &Connection) -> rusqlite::Result<u64> {
    let newest: Option<i64> =
        connection.get("SELECT max(no) FROM definition", [], |row| row.get(0))?;
    Ok(newest.map_or(0, i64::cast_unsigned))
}

/// The numbers of definitions that machines have and that are missing. Jumps from one number to the
/// next in the two indexes, however many machines there are.
const MISSING: &str = "
    WITH RECURSIVE live (number) AS (
        SELECT min(definition) FROM instance WHERE ended = 0 UNION ALL
        SELECT (SELECT min(definition) FROM instance WHERE ended = 0 AND definition > number)
        FROM live WHERE number IS NOT NULL),
    ended (number) AS (
        SELECT min(definition) FROM instance WHERE ended = 1 UNION ALL
        SELECT (SELECT min(definition) FROM instance WHERE ended = 1 AND definition > number)
        FROM ended WHERE number IS NOT NULL)
    SELECT number FROM (SELECT number FROM live UNION SELECT number FROM ended)
    WHERE number IS NOT NULL AND number NOT IN (SELECT no FROM definition)";

/// Every stored definition, with the errors of unreadable and missing ones.
pub(super) fn read(connection: &Connection, key: &DigestKey) -> rusqlite::Result<DefinitionRows> {
    let mut select = connection
        .prepare_cached("SELECT fingerprint, body, machine, seal FROM definition ORDER BY no")?;
    let mut rows = select.query([])?;
    let mut definitions = DefinitionRows::default();
    while let Some(row) = rows.next()? {
        let row = Columns(row);
        let stored = row.at(0, "fingerprint").integer().and_then(|fingerprint| {
            let fingerprint = Fingerprint(fingerprint.cast_unsigned());
            let (body, machine) = (row.at(1, "body").text()?, row.at(2, "machine").text()?);
            let definition = parsed(fingerprint, body, machine)?;
            if row.at(3, "seal").digest()? != seal(key, fingerprint, body, machine) {
                return Err(format!("{fingerprint} was changed: the seal does not match"));
            }
            Ok(definition)
        });
        match stored {
            Ok(definition) => definitions.intact.push(Arc::new(definition)),
            Err(reason) => definitions.broken.push(format!("definition {reason}")),
        }
    }
    let missing = connection.all(MISSING, [], |row| {
        let no = row.get_ref(0)?.as_i64().unwrap_or(0);
        Ok(format!("definition number {no} is missing from the file"))
    })?;
    definitions.broken.extend(missing);
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

/// The seal of a definition. It covers also what the fingerprint leaves out, such as labels,
/// because views show them.
fn seal(key: &DigestKey, fingerprint: Fingerprint, body: &str, machine: &str) -> Digest {
    let fingerprint = fingerprint.0.to_le_bytes();
    key.digest(&[b"definition", &fingerprint, machine.as_bytes(), body.as_bytes()])
}

/// The fingerprint as stored; SQLite integers are signed.
fn number(fingerprint: Fingerprint) -> i64 {
    fingerprint.0.cast_signed()
}
