use rusqlite::{Connection, params};

use super::cached::Cached;
use crate::store::write::tool::ToolRecord;

/// Writes the record of a tool. Values that are already stored stay.
pub(super) fn write(connection: &Connection, name: &str, tool: ToolRecord) -> rusqlite::Result<()> {
    connection.run(
        "INSERT INTO tool (name, identity)
             SELECT ?1, NULL WHERE NOT EXISTS (SELECT 1 FROM tool WHERE name = ?1)",
        [name],
    )?;
    if let Some(identity) = tool.identity {
        connection.run(
            "UPDATE tool SET identity = ?2 WHERE name = ?1 AND identity IS NULL",
            params![name, identity],
        )?;
    }
    Ok(())
}
