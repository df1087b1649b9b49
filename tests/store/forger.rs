//! A forger with write access to a file, who recomputes every digest after an edit.
//!
//! Written from the documentation of the format, not with the library's own code, so that it also
//! pins the format of the file.

use std::collections::BTreeMap;

use machine_tests::forge::keyed_hash as hash;
use rusqlite::{Connection, Result, params, types::Value};

type Bytes = [u8; 32];

/// Everything in a file that follows from the rest of it, by column and row.
pub(crate) type Derived = BTreeMap<(&'static str, i64), Value>;

/// Recomputes what an edit of a file makes wrong: the digests of entries, the chain, the seals of
/// rows, attempts and definitions. The forger has no key, and knows what the file had `before`.
///
/// Returns whether there was anything to recompute. Fails if the file has something that cannot be
/// sealed, such as a column of another type.
pub(crate) fn forge(before: &Derived, edited: &Connection) -> Result<bool> {
    let after = derived(edited, None)?;
    let mut changed = false;
    for ((column, row), value) in &after {
        if before.get(&(*column, *row)) == Some(value) {
            continue;
        }
        changed = true;
        let (table, column, key) = place(column);
        let sql = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
        edited.execute(&sql, params![row, value])?;
    }
    Ok(changed)
}

/// Returns whether this is how the library computes the digests of a file with this key.
pub(crate) fn agrees(raw: &Connection, key: Option<&Bytes>) -> Result<bool> {
    for ((column, row), value) in derived(raw, key)? {
        let (table, column, key) = place(column);
        let sql = format!("SELECT {column} FROM {table} WHERE {key} = ?1");
        let stored: Value = raw.query_row(&sql, [row], |row| row.get(0))?;
        if stored != value {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The table, the column and the key of a row.
fn place(derived: &str) -> (&'static str, &'static str, &'static str) {
    match derived {
        "digest" => ("journal", "digest", "seq"),
        "chain" => ("journal", "chain", "seq"),
        "seal" => ("instance", "seal", "no"),
        "newest" => ("instance", "newest", "no"),
        "store" => ("store", "seal", "rowid"),
        "definition" => ("definition", "seal", "no"),
        _ => ("attempt", "seal", "no"),
    }
}

pub(crate) fn derived(raw: &Connection, key: Option<&Bytes>) -> Result<Derived> {
    let mut derived = Derived::new();
    let digests = digests(raw, key)?;
    for (seq, _, _, digest) in &digests {
        derived.insert(("digest", *seq), digest.to_vec().into());
    }
    chain(raw, key, &digests, &mut derived)?;
    seals_of_rows(raw, key, &digests, &mut derived)?;
    seals_of_attempts(raw, key, &mut derived)?;
    seals_of_definitions(raw, key, &mut derived)?;
    let (row, store, generation, copied) =
        raw.query_row("SELECT rowid, id, generation, copied FROM store", [], |row| {
            let (store, generation) = (row.get::<_, [u8; 16]>(1)?, row.get::<_, i64>(2)?);
            Ok((row.get(0)?, store, generation, row.get::<_, bool>(3)?))
        })?;
    let seal = hash(key, &[b"store", &store, &generation.to_le_bytes(), &[u8::from(copied)]]);
    derived.insert(("store", row), seal.to_vec().into());
    Ok(derived)
}

/// The place, machine and number of each entry, and its digest. It covers the entry and, through
/// the digest before it, all before it.
fn digests(raw: &Connection, key: Option<&Bytes>) -> Result<Vec<(i64, i64, i64, Bytes)>> {
    let mut select = raw.prepare(
        "SELECT j.seq, j.instance, j.number, j.at, d.fingerprint, j.actor, j.kind, j.edge, j.body
         FROM journal j LEFT JOIN definition d ON d.no = j.definition
         ORDER BY j.instance, j.number",
    )?;
    let mut rows = select.query([])?;
    let mut digests: Vec<(i64, i64, i64, Bytes)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, instance): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (number, at, definition): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let (actor, body): (Option<String>, Option<String>) = (row.get(5)?, row.get(8)?);
        let (kind, edge): (u8, Option<u32>) = (row.get(6)?, row.get(7)?);
        let head = match digests.last() {
            Some((_, of, _, head)) if *of == instance => *head,
            _ => [0; 32],
        };
        let edge = edge.map(u32::to_le_bytes);
        let parts: &[&[u8]] = &[
            &head,
            &number.to_le_bytes(),
            &at.to_le_bytes(),
            &definition.to_le_bytes(),
            &[u8::from(actor.is_some())],
            actor.as_deref().unwrap_or_default().as_bytes(),
            &[kind],
            edge.as_ref().map_or(&[], <[u8; 4]>::as_slice),
            &[u8::from(body.is_some())],
            body.as_deref().unwrap_or_default().as_bytes(),
        ];
        digests.push((seq, instance, number, hash(key, parts)));
    }
    Ok(digests)
}

/// The last entry of each transaction covers all entries of the file so far.
fn chain(
    raw: &Connection,
    key: Option<&Bytes>,
    digests: &[(i64, i64, i64, Bytes)],
    derived: &mut Derived,
) -> Result<()> {
    let mut in_order: BTreeMap<i64, Bytes> = BTreeMap::new();
    in_order.extend(digests.iter().map(|(seq, _, _, digest)| (*seq, *digest)));
    let mut select = raw.prepare("SELECT chain IS NOT NULL FROM journal WHERE seq = ?1")?;
    let last = in_order.keys().max().copied();
    let mut parts: Vec<Bytes> = vec![[0; 32]];
    for (seq, digest) in in_order {
        parts.push(digest);
        if select.query_row([seq], |row| row.get(0))? || Some(seq) == last {
            let chain = hash(key, &parts.iter().map(Bytes::as_slice).collect::<Vec<_>>());
            derived.insert(("chain", seq), chain.to_vec().into());
            parts = vec![chain];
        }
    }
    Ok(())
}

/// The seal of a row covers all of it, its context, and its newest entry.
fn seals_of_rows(
    raw: &Connection,
    key: Option<&Bytes>,
    digests: &[(i64, i64, i64, Bytes)],
    derived: &mut Derived,
) -> Result<()> {
    let store: [u8; 16] = raw.query_row("SELECT id FROM store", [], |row| row.get(0))?;
    let mut select = raw.prepare(
        "SELECT i.no, i.id, d.machine, d.fingerprint, i.status, i.version, i.epoch, i.created_at,
                i.updated_at, i.due_at, i.session, i.key, i.behind, i.commit_id, i.state, i.summary,
                c.body, i.ended, i.contradicted
         FROM instance i LEFT JOIN definition d ON d.no = i.definition
         LEFT JOIN context c ON c.instance = i.no",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let number = |index| row.get::<_, i64>(index).map(i64::to_le_bytes);
        let text = |index| row.get::<_, String>(index);
        let (no, id, version): (i64, [u8; 16], i64) = (row.get(0)?, row.get(1)?, row.get(5)?);
        let due_at: Option<i64> = row.get(9)?;
        let behind: Option<[u8; 16]> = row.get(12)?;
        let (session, of_key): (Option<String>, Option<String>) = (row.get(10)?, row.get(11)?);
        let mut newest = digests.iter();
        let newest = newest.find(|(_, of, number, _)| *of == no && *number == version - 1);
        let Some((seq, _, _, head)) = newest else {
            return Err(rusqlite::Error::QueryReturnedNoRows);
        };
        let fixed: [&[u8]; 12] = [
            &store,
            &id,
            &number(3)?,
            &number(5)?,
            &number(6)?,
            &number(7)?,
            &number(8)?,
            &number(13)?,
            &due_at.unwrap_or(0).to_le_bytes(),
            &behind.unwrap_or_default(),
            head,
            &[
                due_at.is_some(),
                behind.is_some(),
                session.is_some(),
                of_key.is_some(),
                row.get(17)?,
                row.get(18)?,
            ]
            .map(u8::from),
        ];
        let seal = hash(
            key,
            &[
                &fixed.concat(),
                text(2)?.as_bytes(),
                text(4)?.as_bytes(),
                session.as_deref().unwrap_or_default().as_bytes(),
                of_key.as_deref().unwrap_or_default().as_bytes(),
                text(14)?.as_bytes(),
                text(15)?.as_bytes(),
                text(16)?.as_bytes(),
            ],
        );
        derived.insert(("seal", no), seal.to_vec().into());
        // Where the newest entry is.
        derived.insert(("newest", no), (*seq).into());
    }
    Ok(())
}

/// The seal of an attempt covers all of it.
fn seals_of_attempts(raw: &Connection, key: Option<&Bytes>, derived: &mut Derived) -> Result<()> {
    let mut select = raw.prepare(
        "SELECT no, key, space, action, instance, token, hold, worker, expires_at FROM attempt",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (of_key, space): (String, String) = (row.get(1)?, row.get(2)?);
        let (action, by): (Option<Bytes>, [u8; 16]) = (row.get(3)?, row.get(4)?);
        let (token, hold): (i64, u8) = (row.get(5)?, row.get(6)?);
        let (worker, expires_at): (Option<String>, Option<i64>) = (row.get(7)?, row.get(8)?);
        let mut expires = vec![0; 9];
        if let Some(at) = expires_at {
            expires = [&[1][..], &at.to_le_bytes()].concat();
        }
        let seal = hash(
            key,
            &[
                of_key.as_bytes(),
                space.as_bytes(),
                &[u8::from(action.is_some()), u8::from(worker.is_some())],
                action.as_ref().map_or(&[], <[u8; 32]>::as_slice),
                hyphenated(by).as_bytes(),
                &token.to_le_bytes(),
                &[hold],
                worker.as_deref().unwrap_or_default().as_bytes(),
                &expires,
            ],
        );
        derived.insert(("attempt", row.get(0)?), seal.to_vec().into());
    }
    Ok(())
}

fn seals_of_definitions(
    raw: &Connection,
    key: Option<&Bytes>,
    derived: &mut Derived,
) -> Result<()> {
    let mut select = raw.prepare("SELECT no, fingerprint, machine, body FROM definition")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let fingerprint = row.get::<_, i64>(1)?.to_le_bytes();
        let (machine, body): (String, String) = (row.get(2)?, row.get(3)?);
        let parts = [&b"definition"[..], &fingerprint, machine.as_bytes(), body.as_bytes()];
        derived.insert(("definition", row.get(0)?), hash(key, &parts).to_vec().into());
    }
    Ok(())
}

/// An id as text.
fn hyphenated(id: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(id));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
