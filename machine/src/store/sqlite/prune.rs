//! Deletes machines that have ended, and keeps the data that the chain over the journal covers.

use rusqlite::{ToSql, params};

use super::{
    attempts,
    cached::{Cached, Keyed},
    call,
    fail::fail_point,
    journal,
    readers::ReadConnection,
    value::{Cell, Column, Columns, integer},
};
use crate::{
    actor::{Actor, Call},
    journal::{Digest, DigestKey},
    store::{
        backend::Broken,
        inbox::{message::Delivery, outcome::outcome_of},
        upkeep::pruning::{Candidate, Link, PrunedLine},
    },
};

/// Prunes what may be pruned; returns the number of entries of each, `None` if it is still needed.
pub(super) fn run(db: Keyed<'_>, prune: &[Candidate]) -> rusqlite::Result<Vec<Option<u64>>> {
    let one = |candidate: &Candidate| {
        let Some(no) = prunable(db, *candidate)? else { return Ok(None) };
        let opened = attempts::tokens(&db, no, candidate.id)?;
        // Nothing compares a transition with what is gone.
        db.run(
            "DELETE FROM message WHERE instance = (SELECT parent FROM child WHERE child = ?1)
                 AND correlation = ?2 AND status = ?3 AND actor = ?4",
            params![no, outcome_of(candidate.id), Delivery::Handled as i64, Call::KIND],
        )?;
        remove(db, no, &opened).map(Some)
    };
    prune.iter().map(one).collect()
}

/// One of its ancestors has not ended.
const ANCESTORS: &str = "
    WITH RECURSIVE family (no) AS (
         SELECT parent FROM child WHERE child = ?1
         UNION SELECT c.parent FROM family CROSS JOIN child c ON c.child = family.no)
     SELECT 1 FROM family CROSS JOIN instance i ON i.no = family.no WHERE i.ended = 0";

/// Each finds something that still needs a machine. `?1` is its number, `?2` its id, and `?3` its
/// key. The indexes are named because SQLite would read all machines instead, for a join with so
/// few of them.
pub(super) const NEEDS: [&str; 5] = [
    // Unless it is a call that is over.
    ANCESTORS,
    // It is the newest machine, or has the newest journal entry.
    "SELECT 1 WHERE ?1 = (SELECT max(no) FROM instance)
         OR ?1 = (SELECT instance FROM journal ORDER BY seq DESC LIMIT 1)",
    // A machine waits for it.
    "SELECT 1 FROM instance INDEXED BY instance_behind WHERE behind = ?2 AND ended = 0",
    // One of its descendants has not ended.
    "WITH RECURSIVE family (no) AS (
         SELECT child FROM child WHERE parent = ?1
         UNION SELECT c.child FROM family CROSS JOIN child c ON c.parent = family.no)
     SELECT 1 FROM family CROSS JOIN instance i ON i.no = family.no WHERE i.ended = 0",
    // Its call is unanswered: a late receipt may arrive.
    "SELECT 1 FROM attempt INDEXED BY attempt_key
     WHERE key = ?3 AND instance = ?2 AND worker IS NOT NULL",
];

/// The number of a machine that has ended, is as it was found, and that nothing needs.
fn prunable(db: Keyed<'_>, candidate: Candidate) -> rusqlite::Result<Option<i64>> {
    let id = candidate.id.bytes();
    let found = db.find(
        "SELECT no, key FROM instance WHERE id = ?1 AND version = ?2 AND ended = 1",
        params![id, integer(candidate.version)?],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((no, key)): Option<(i64, Option<String>)> = found else { return Ok(None) };
    for need in NEEDS {
        let mut select = db.prepare_cached(need)?;
        let parameters: [&dyn ToSql; 3] = [&no, id, &key];
        // A statement has the parameters up to the last one that it names.
        let used = select.parameter_count();
        let is_needed = select.exists(&parameters[..used])?;
        if is_needed && !(need == ANCESTORS && call::is_over(db, candidate.id)?) {
            return Ok(None);
        }
    }
    Ok(Some(no))
}

/// Deletes a machine whose lines with these numbers opened attempts.
fn remove(db: Keyed<'_>, no: i64, opened: &[i64]) -> rusqlite::Result<u64> {
    let mut insert = db.prepare_cached(
        "INSERT INTO pruned (seq, digest, chain, opened, seal) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut select =
        db.prepare_cached("SELECT seq, digest, chain FROM journal WHERE instance = ?1")?;
    let mut lines = select.query([no])?;
    let mut removed = 0;
    while let Some(line) = lines.next()? {
        let (seq, digest): (i64, [u8; 32]) = (line.get(0)?, line.get(1)?);
        let chain = line.get::<_, Option<[u8; 32]>>(2)?.map(Digest::from_bytes);
        let (digest, opened) = (Digest::from_bytes(digest), opened.contains(&seq));
        let left = PrunedLine { digest, chain, opened };
        let seal = left.seal(db.key, seq.cast_unsigned());
        let chain = left.chain.as_ref().map(Digest::bytes);
        let digest = left.digest.bytes();
        insert.execute(params![seq, digest, chain, opened, seal.bytes()])?;
        removed += 1;
    }
    fail_point!("store-pruned-line");
    // In this order the schema allows it.
    for sql in [
        "DELETE FROM journal WHERE instance = ?1",
        "DELETE FROM instance WHERE no = ?1",
        "DELETE FROM context WHERE instance = ?1",
        "DELETE FROM message WHERE instance = ?1",
        "DELETE FROM work WHERE instance = ?1",
        "DELETE FROM child WHERE child = ?1",
        "DELETE FROM child WHERE parent = ?1",
    ] {
        db.run(sql, [no])?;
        fail_point!("store-prune");
    }
    Ok(removed)
}

pub(super) fn links(
    reader: &mut ReadConnection,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Vec<Link>> {
    let lines = journal::entries(reader, after, limit)?;
    let mut links: Vec<Link> = lines.into_iter().map(Link::Line).collect();
    let sql = "SELECT seq, digest, chain, opened, seal
               FROM pruned WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let page = [after, limit as u64].map(journal::bounded);
    links.extend(reader.connection.all(sql, page, |row| {
        let row = Columns(row);
        // Greater than `after`, so not negative.
        let seq = row.at(0, "seq").count().unwrap_or(0);
        let line = pruned(row, &reader.key, seq);
        Ok(Link::Pruned(seq, line.map_err(|reason| Broken { id: None, reason, due_at: None })))
    })?);
    links.sort_by_key(Link::seq);
    links.truncate(limit);
    Ok(links)
}

fn pruned(row: Columns<'_, '_>, key: &DigestKey, seq: u64) -> Column<PrunedLine> {
    let line = PrunedLine {
        digest: row.at(1, "digest").digest()?,
        chain: row.at(2, "chain").optional(Cell::digest)?,
        opened: row.at(3, "opened").flag()?,
    };
    if line.seal(key, seq) != row.at(4, "seal").digest()? {
        return Err(format!(
            "what is left of the pruned entry {seq} was changed: the seal does not match"
        ));
    }
    Ok(line)
}
