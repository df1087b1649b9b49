use rusqlite::{Connection, OptionalExtension, params};

use crate::store::write::tool::Tool;

/// Returns the record of a tool, if it was irreversible once.
pub(super) fn find(connection: &Connection, name: &str) -> rusqlite::Result<Option<Tool>> {
    connection
        .prepare_cached("SELECT identity FROM tool WHERE name = ?1")?
        .query_row([name], |row| Ok(Tool { identity: row.get(0)? }))
        .optional()
}

/// Writes the record of a tool. Values that are already stored stay.
pub(super) fn write(connection: &Connection, name: &str, tool: Tool) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO tool (name, identity)
             SELECT ?1, NULL WHERE NOT EXISTS (SELECT 1 FROM tool WHERE name = ?1)",
        )?
        .execute([name])?;
    if let Some(identity) = tool.identity {
        connection
            .prepare_cached("UPDATE tool SET identity = ?2 WHERE name = ?1 AND identity IS NULL")?
            .execute(params![name, identity])?;
    }
    Ok(())
}
