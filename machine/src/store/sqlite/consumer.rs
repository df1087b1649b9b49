//! The positions up to which consumers have read.

use rusqlite::{Connection, params};

use super::{cached::Cached, value::integer};
use crate::store::{inbox::consumer::Advance, read::subscribe::Position};

pub(super) fn offset(
    connection: &Connection,
    consumer: &str,
) -> rusqlite::Result<Option<Position>> {
    connection.find(
        "SELECT generation, position FROM consumer WHERE name = ?1",
        [consumer],
        |row| {
            let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
            Ok(Position { generation: number(0)?, sequence: number(1)? })
        },
    )
}

/// Moves a consumer on, if it is where it is expected to be.
pub(super) fn advance(connection: &Connection, advance: &Advance) -> rusqlite::Result<bool> {
    if offset(connection, &advance.consumer)? != advance.expected {
        return Ok(false);
    }
    connection.run(
        "INSERT INTO consumer (name, generation, position) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET generation = ?2, position = ?3",
        params![advance.consumer, integer(advance.to.generation)?, integer(advance.to.sequence)?],
    )?;
    Ok(true)
}
