//! The end of the journal, and the lines that a transaction adds to it.

use rusqlite::{Connection, params};

use super::{
    cached::{Cached, Keyed},
    fail::fail_point,
    failure::RollbackCause,
    value::integer,
};
use crate::{
    journal::{Digest, Line},
    store::error::Unavailable,
};

/// The end of the journal: the sequence number of its newest line, and the chain up to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct JournalEnd {
    newest: i64,
    chain: Digest,
}

impl JournalEnd {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let newest = connection.find(
            // A chain that is missing here breaks the chain of the file; a full verification
            // reports it.
            "SELECT seq, chain FROM journal ORDER BY seq DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get::<_, [u8; 32]>(1).ok())),
        )?;
        let (newest, chain) = newest.unwrap_or((0, None));
        Ok(Self { newest, chain: chain.map_or(Digest::ZERO, Digest::from_bytes) })
    }
}

/// The journal lines of one transaction. They are inserted at its end, because only the last one
/// gets the chain, and lines cannot be updated.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    /// Its newest line is the last pending one; its chain is that of the previous transaction.
    end: JournalEnd,
    pending: Vec<Pending<'a>>,
}

#[derive(Debug)]
struct Pending<'a> {
    seq: i64,
    instance: i64,
    definition: i64,
    line: &'a Line,
}

impl<'a> Lines<'a> {
    pub(super) fn after(end: JournalEnd) -> Self {
        Self { end, pending: Vec::new() }
    }

    /// The sequence number after the next lines.
    pub(super) fn number_after(&self, lines: &[Line]) -> Result<i64, RollbackCause> {
        let full = || RollbackCause(Unavailable::other("the journal has no more sequence numbers"));
        let count = i64::try_from(lines.len()).ok();
        count.and_then(|count| self.end.newest.checked_add(count)).ok_or_else(full)
    }

    pub(super) fn add(&mut self, instance: i64, definition: i64, line: &'a Line) {
        // Not too large: see `number_after`.
        self.end.newest += 1;
        self.pending.push(Pending { seq: self.end.newest, instance, definition, line });
    }

    /// Inserts the lines. The last one covers all lines of the file so far. Returns the new end.
    pub(super) fn insert(&self, db: Keyed<'_>) -> rusqlite::Result<JournalEnd> {
        if self.pending.is_empty() {
            return Ok(self.end);
        }
        let JournalEnd { newest, chain } = self.end;
        let mut parts: Vec<&[u8]> = vec![chain.bytes()];
        parts.extend(self.pending.iter().map(|pending| pending.line.digest.bytes().as_slice()));
        let chain = db.key.digest(&parts);
        let mut insert = db.prepare_cached(
            "INSERT INTO journal
             (seq, instance, number, at, definition, actor, kind, edge, body, digest, chain)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        for Pending { seq, instance, definition, line } in &self.pending {
            fail_point!("store-line");
            insert.execute(params![
                seq,
                instance,
                integer(line.number)?,
                line.at,
                definition,
                line.actor,
                line.kind as i64,
                line.edge,
                line.body,
                line.digest.bytes(),
                (*seq == newest).then(|| chain.bytes()),
            ])?;
        }
        Ok(JournalEnd { newest, chain })
    }

    /// The sequence number of a line that is pending, or in the file.
    pub(super) fn seq_of(
        &self,
        connection: &Connection,
        instance: i64,
        line: &Line,
    ) -> rusqlite::Result<u64> {
        let same = |pending: &&Pending<'_>| {
            pending.instance == instance && pending.line.number == line.number
        };
        let seq = match self.pending.iter().find(same) {
            Some(pending) => Some(pending.seq),
            None => connection.find(
                "SELECT seq FROM journal WHERE instance = ?1 AND number = ?2",
                params![instance, integer(line.number)?],
                |row| row.get(0),
            )?,
        };
        Ok(seq.and_then(|seq| u64::try_from(seq).ok()).unwrap_or(0))
    }
}
