use rusqlite::{Connection, types::ToSqlOutput};

use super::{cached::Cached, journal::bounded};
use crate::store::read::sessions::{SessionCursor, SessionLine};

/// The newest machine of each session up to a number, newest first. It steps over older machines of
/// sessions, with a look into the index for each.
pub(super) const NEWEST: &str = "
    SELECT i.no, i.session FROM instance i
    WHERE i.no < ?1 AND i.no <= ?2 AND i.session IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM instance n INDEXED BY instance_session
        WHERE n.session = i.session AND n.no > i.no AND n.no <= ?2)
    ORDER BY i.no DESC LIMIT ?3";

pub(super) const OF_SESSION: &str = "
    SELECT count(*), min(created_at), max(updated_at)
    FROM instance INDEXED BY instance_session WHERE session = ?1";

pub(super) fn sessions(
    connection: &Connection,
    after: Option<SessionCursor>,
    limit: usize,
) -> rusqlite::Result<Vec<(u64, SessionLine)>> {
    let mut of_session = connection.prepare_cached(OF_SESSION)?;
    let upto = after.map_or(i64::MAX, |after| bounded(after.upto));
    let before = after.map_or(i64::MAX, |after| bounded(after.number));
    connection.all(NEWEST, [before, upto, bounded(limit as u64)], |row| {
        let session = row.get_ref(1)?;
        let line = of_session.query_row([ToSqlOutput::Borrowed(session)], |of| {
            Ok(SessionLine {
                session: String::from_utf8_lossy(session.as_bytes()?).into_owned(),
                machines: of.get::<_, i64>(0)?.cast_unsigned(),
                created_at: of.get(1)?,
                updated_at: of.get(2)?,
            })
        })?;
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), line))
    })
}
