use rusqlite::Row;

use crate::{clock::Millis, erased::Projection, journal::Due};

/// The index columns of a row: a projection of the journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) session: Option<String>,
    pub(super) key: Option<String>,
    pub(super) holds_key: bool,
    pub(super) action: Option<String>,
    pub(super) behind: Option<String>,
    pub(super) confirms: Option<String>,
    pub(super) worker: Option<String>,
    pub(super) expires_at: Option<Millis>,
    pub(super) due_at: Option<Millis>,
}

impl Columns {
    /// The column names, in the order that [`read`](Self::read) expects.
    pub(super) const NAMES: &str =
        "session, key, holds_key, action, behind, confirms, worker, expires_at, due_at";

    /// Reads the columns from a row that selects [`NAMES`](Self::NAMES) from column `first` on.
    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            session: row.get(first)?,
            key: row.get(first + 1)?,
            holds_key: row.get(first + 2)?,
            action: row.get(first + 3)?,
            behind: row.get(first + 4)?,
            confirms: row.get(first + 5)?,
            worker: row.get(first + 6)?,
            expires_at: row.get(first + 7)?,
            due_at: row.get(first + 8)?,
        })
    }
}

impl Columns {
    /// The columns for a machine.
    pub(super) fn of(projection: &Projection, deadlines: &[Due]) -> Self {
        let permit = projection.permit.as_ref();
        Self {
            session: projection.session.clone(),
            key: projection.key.clone(),
            holds_key: projection.holds_key,
            action: projection.action.map(|digest| digest.to_string()),
            behind: projection.behind.map(|id| id.to_string()),
            confirms: projection.confirms.map(|digest| digest.to_string()),
            worker: permit.map(|permit| permit.worker.clone()),
            expires_at: permit.map(|permit| permit.expires_at),
            due_at: deadlines.iter().filter(|due| !due.paused).filter_map(|due| due.due_at).min(),
        }
    }
}
