//! The positions up to which consumers have read.

use rusqlite::{Connection, OptionalExtension, params};

use super::value::integer;
use crate::store::inbox::consumer::{Advance, Offset};

pub(super) fn offset(connection: &Connection, consumer: &str) -> rusqlite::Result<Option<Offset>> {
    connection
        .prepare_cached("SELECT generation, position FROM consumer WHERE name = ?1")?
        .query_row([consumer], |row| {
            let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
            Ok(Offset { generation: number(0)?, sequence: number(1)? })
        })
        .optional()
}

/// Moves a consumer on, if it is where it is expected to be.
pub(super) fn advance(connection: &Connection, advance: &Advance) -> rusqlite::Result<bool> {
    if offset(connection, &advance.consumer)? != advance.expected {
        return Ok(false);
    }
    connection
        .prepare_cached(
            "INSERT INTO consumer (name, generation, position) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET generation = ?2, position = ?3",
        )?
        .execute(params![
            advance.consumer,
            integer(advance.to.generation)?,
            integer(advance.to.sequence)?
        ])?;
    Ok(true)
}
