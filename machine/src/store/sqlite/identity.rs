//! Which store a file is.

use std::path::Path;

use rusqlite::{Connection, Transaction, params};

use super::{cached::Cached, failure, value::integer};
use crate::{
    clock,
    id::Id,
    journal::{Digest, DigestKey},
    store::{backend::Identity, error::OpenError},
};

pub(super) fn create(transaction: &Transaction<'_>, key: &DigestKey) -> rusqlite::Result<()> {
    let identity = Identity { store: Id::fresh(), generation: 1 };
    transaction.run(
        "INSERT INTO store (id, generation, copied, seal) VALUES (zeroblob(16), 1, 0, x'')",
        [],
    )?;
    write(transaction, identity, false, key)
}

pub(super) fn of(
    connection: &Connection,
    path: &Path,
    key: &DigestKey,
) -> Result<Identity, OpenError> {
    read(connection, path, key).map(|(identity, _)| identity)
}

/// Gives a backup that is opened for writing a new generation. Its journal diverges from there: the
/// same sequence numbers will stand for other entries than in the original, and positions and
/// tokens of the one must mean nothing in the other.
pub(super) fn put_to_use(
    transaction: &Transaction<'_>,
    path: &Path,
    key: &DigestKey,
) -> Result<(), OpenError> {
    let (identity, true) = read(transaction, path, key)? else { return Ok(()) };
    // By the clock, so that it differs each time that one backup is put to use.
    let now = u64::try_from(clock::now()).unwrap_or(0);
    let generation = now.max(identity.generation.saturating_add(1));
    let identity = Identity { generation, ..identity };
    write(transaction, identity, false, key).map_err(|error| failure::opening(&error, path))
}

/// Says which store a file is. A backup is `copied`: until it is put to use, it is what its
/// original was.
pub(super) fn write(
    connection: &Connection,
    identity: Identity,
    copied: bool,
    key: &DigestKey,
) -> rusqlite::Result<()> {
    let (store, generation) = (identity.store.bytes(), integer(identity.generation)?);
    let seal = seal(identity, copied, key);
    connection.run(
        "UPDATE store SET id = ?1, generation = ?2, copied = ?3, seal = ?4",
        params![store, generation, copied, seal.bytes()],
    )
}

/// And whether it is a backup that was not put to use.
fn read(
    connection: &Connection,
    path: &Path,
    key: &DigestKey,
) -> Result<(Identity, bool), OpenError> {
    let sql = "SELECT id, generation, copied, seal, (SELECT count(*) FROM store) FROM store";
    let read = connection.query_row(sql, [], |row| {
        let (store, generation) = (row.get::<_, [u8; 16]>(0)?, row.get::<_, i64>(1)?);
        Ok((store, generation, row.get::<_, i64>(2)?, row.get::<_, [u8; 32]>(3)?, row.get(4)?))
    });
    let damaged = || OpenError::Damaged { path: path.to_owned() };
    let (store, generation, copied, found, rows): (_, _, _, _, i64) =
        read.map_err(|error| match error.sqlite_error_code() {
            Some(_) => failure::opening(&error, path),
            // No row, or one with other types.
            None => damaged(),
        })?;
    if rows != 1 {
        return Err(OpenError::TwoIdentities { path: path.to_owned() });
    }
    let generation = u64::try_from(generation).map_err(|_| damaged())?;
    let copied = match copied {
        0 => false,
        1 => true,
        _ => return Err(damaged()),
    };
    let identity = Identity { store: Id::from_bytes(store), generation };
    if seal(identity, copied, key) != Digest::from_bytes(found) {
        return Err(OpenError::OtherKey { path: path.to_owned() });
    }
    Ok((identity, copied))
}

/// Shows whether a store is opened with the key that it was created with.
fn seal(identity: Identity, copied: bool, key: &DigestKey) -> Digest {
    let Identity { store, generation } = identity;
    key.digest(&[b"store", store.bytes(), &generation.to_le_bytes(), &[u8::from(copied)]])
}
