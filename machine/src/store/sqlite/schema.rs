/// Marks a file as ours ("mach").
pub(super) const APPLICATION_ID: i64 = 0x6d61_6368;

/// The newest format that this program knows.
pub(super) const FORMAT: i64 = 1;

/// The journal is the truth; `instance` is where each machine stands, and what it is found by.
///
/// The holds on idempotency keys are journal entries. The unique index over what they lead to
/// makes a second holder impossible, whichever process tries.
pub(super) const CREATE: &str = "
    CREATE TABLE instance (
        id          TEXT PRIMARY KEY,
        machine     TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
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
        expires_at  INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE UNIQUE INDEX instance_key_holder ON instance (key) WHERE holds_key = 1;
    CREATE INDEX instance_key ON instance (key) WHERE key IS NOT NULL;
    CREATE INDEX instance_behind ON instance (behind) WHERE behind IS NOT NULL;
    CREATE INDEX instance_permit ON instance (worker) WHERE worker IS NOT NULL;
    CREATE INDEX instance_session ON instance (session, created_at);

    CREATE TABLE journal (
        seq      INTEGER PRIMARY KEY AUTOINCREMENT,
        instance TEXT NOT NULL REFERENCES instance (id),
        number   INTEGER NOT NULL,
        at       INTEGER NOT NULL,
        actor    TEXT,
        fact     TEXT NOT NULL,
        digest   TEXT NOT NULL,
        UNIQUE (instance, number)
    ) STRICT;

    CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
    BEGIN
        SELECT RAISE(ABORT, 'the journal is append-only');
    END;
";
