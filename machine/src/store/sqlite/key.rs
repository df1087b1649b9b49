use rusqlite::{Connection, params};

use super::{
    definitions::Definitions,
    read::{read, stored_id},
};
use crate::{
    contract::{AnyExecution, execution::Status},
    erased::Context,
    id::Id,
    journal::Digest,
    store::StoreError,
};

/// The execution other than `but` that holds `key`, and its status. Verifies every execution with
/// this key: an unverified row must not permit a repetition.
pub(super) fn holder(
    connection: &Connection,
    definitions: &Definitions,
    key: &str,
    action: Digest,
    but: Id,
) -> Result<Option<(Id, Status)>, StoreError> {
    let mut select = connection
        .prepare_cached("SELECT id FROM instance WHERE key = ?1 AND id <> ?2 ORDER BY id")?;
    let others: Vec<String> = select
        .query_map(params![key, but.to_string()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for other in others {
        let by = stored_id(&other)?;
        let execution: AnyExecution = read(connection, definitions, by)?.verify()?;
        let projection = execution.context().projection(execution.journal().entries());
        if projection.action != Some(action) {
            return Err(StoreError::KeyReused { by });
        }
        if projection.holds_key {
            return Ok(Some((by, execution.status())));
        }
    }
    Ok(None)
}
