//! The rows of workers.

use rusqlite::{Connection, params};

use crate::{
    id::Id,
    store::backend::{Crew, Registered},
};

pub(super) fn write(connection: &Connection, crew: &Crew) -> rusqlite::Result<()> {
    match crew {
        Crew::Joins(Registered { id, name, body }) => {
            connection
                .prepare_cached(
                    "INSERT INTO worker (id, name, body) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE SET name = excluded.name, body = excluded.body",
                )?
                .execute(params![id.bytes(), name, body])?;
        }
        Crew::Leave(workers) => {
            let mut delete = connection.prepare_cached("DELETE FROM worker WHERE id = ?1")?;
            for id in workers {
                delete.execute([id.bytes()])?;
            }
        }
    }
    Ok(())
}

pub(super) fn workers(connection: &Connection) -> rusqlite::Result<Vec<Registered>> {
    connection
        .prepare_cached("SELECT id, name, body FROM worker ORDER BY id")?
        .query_map([], |row| {
            let id = Id::from_bytes(row.get(0)?);
            Ok(Registered { id, name: row.get(1)?, body: row.get(2)? })
        })?
        .collect()
}

pub(super) fn driven(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT machine FROM driven ORDER BY no")?
        .query_map([], |row| row.get(0))?
        .collect()
}
