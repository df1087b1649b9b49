use std::path::Path;

use crate::store::StoreError;

/// The SQLite application id of this library ("mach").
pub(super) const APPLICATION_ID: i64 = 0x6d61_6368;

/// The format that this program reads and writes.
pub(super) const FORMAT: i64 = 2;

/// The journal is the source of truth; `instance` has the current state of each machine and its
/// index columns.
///
/// Holds on idempotency keys are journal entries. The unique index over their projection makes a
/// second holder impossible, across processes.
///
/// `definition` has the definitions that machines were written under; rows and entries refer to them
/// by fingerprint.
pub(super) const CREATE: &str = "
    CREATE TABLE definition (
        fingerprint INTEGER PRIMARY KEY,
        machine     TEXT NOT NULL,
        body        TEXT NOT NULL
    ) STRICT;

    CREATE TABLE instance (
        id          TEXT PRIMARY KEY,
        machine     TEXT NOT NULL,
        definition  INTEGER NOT NULL,
        status      TEXT NOT NULL,
        state       TEXT NOT NULL,
        context     TEXT NOT NULL,
        version     INTEGER NOT NULL,
        epoch       INTEGER NOT NULL,
        seal        TEXT NOT NULL,
        created_at  INTEGER NOT NULL,
        updated_at  INTEGER NOT NULL,
        session     TEXT,
        key         TEXT,
        holds_key   INTEGER NOT NULL,
        action      TEXT,
        behind      TEXT,
        confirms    TEXT,
        worker      TEXT,
        expires_at  INTEGER,
        due_at      INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE UNIQUE INDEX instance_key_holder ON instance (key) WHERE holds_key = 1;
    CREATE INDEX instance_key ON instance (key) WHERE key IS NOT NULL;
    CREATE INDEX instance_behind ON instance (behind) WHERE behind IS NOT NULL;
    CREATE INDEX instance_permit ON instance (worker) WHERE worker IS NOT NULL;
    CREATE INDEX instance_session ON instance (session, created_at);
    CREATE INDEX instance_definition ON instance (machine, definition);
    CREATE INDEX instance_due ON instance (due_at, id) WHERE due_at IS NOT NULL;

    CREATE TABLE journal (
        seq      INTEGER PRIMARY KEY AUTOINCREMENT,
        instance TEXT NOT NULL REFERENCES instance (id),
        number   INTEGER NOT NULL,
        at       INTEGER NOT NULL,
        actor    TEXT,
        definition INTEGER NOT NULL,
        fact     TEXT NOT NULL,
        digest   TEXT NOT NULL,
        UNIQUE (instance, number)
    ) STRICT;

    CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
    BEGIN
        SELECT RAISE(ABORT, 'the journal is append-only');
    END;
";

/// Refuses any other format: there are no migrations yet.
pub(super) fn check_format(found: i64, path: &Path) -> Result<(), StoreError> {
    let (path, known) = (path.to_owned(), FORMAT);
    match found.cmp(&FORMAT) {
        std::cmp::Ordering::Less => Err(StoreError::TooOld { path, found, known }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::TooNew { path, found, known }),
    }
}
