//! The rows of workers.

use rusqlite::{Connection, params};

use super::cached::Cached;
use crate::{
    id::Id,
    store::backend::{CrewChange, WorkerRow},
};

pub(super) fn write(connection: &Connection, crew: &CrewChange) -> rusqlite::Result<()> {
    match crew {
        CrewChange::Put(WorkerRow { id, name, body }) => connection.run(
            "INSERT INTO worker (id, name, body) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE SET name = excluded.name, body = excluded.body",
            params![id.bytes(), name, body],
        ),
        CrewChange::Remove(workers) => workers
            .iter()
            .try_for_each(|id| connection.run("DELETE FROM worker WHERE id = ?1", [id.bytes()])),
    }
}

pub(super) fn workers(connection: &Connection) -> rusqlite::Result<Vec<WorkerRow>> {
    connection.all("SELECT id, name, body FROM worker ORDER BY id", [], |row| {
        let id = Id::from_bytes(row.get(0)?);
        Ok(WorkerRow { id, name: row.get(1)?, body: row.get(2)? })
    })
}

pub(super) fn driven(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.all("SELECT machine FROM driven ORDER BY no", [], |row| row.get(0))
}
