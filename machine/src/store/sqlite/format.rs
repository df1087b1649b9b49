//! The stored format: what a new file is created with.

/// Rows refer to each other by small numbers; ids and digests are blobs. The context has a table of
/// its own because it rarely changes, and an update rewrites the whole row.
///
/// A row of `work` is there while workers drive the machine; while one has the lease, `wake_at` is
/// when the lease ends. `set_at` is the time at which a worker's timer was set: if the clock shows
/// an earlier one, the machine is due. Of one that is ready, both are the time since when it is.
/// `unseen_end` is when the first child ended since the handler was last called, and `seen_end`
/// when the first one ended before that, since the handler last returned. `others_at` is the time
/// since when it has waited for another program; then `wake_at` is for all of them. `queued` is the
/// number of queued messages of the machine, and `stuck_at` the time since when nothing can move
/// it. `taken_over` is 1 once a worker has taken it over from another one, until its handler makes
/// a transition.
///
/// A row of `worker` is there while a worker runs, and while its process, which has the lock file
/// of that `name`, is not known to have ended. `body` has the process, the kinds that it drives,
/// each with the fingerprint of its definition, and its tools, as JSON.
///
/// `contradicted` of an instance is 1 while a receipt contradicts its end and no person has
/// acknowledged that. The index of tails has the last 8 digits of each id, by which people name
/// machines. A commit that does not end a machine changes no index of `instance`, unless a deadline
/// changes: see `update` in `apply.rs`.
///
/// `newest` of an instance is the sequence number of its newest line, so that a read finds the line
/// without an index. `no` of an instance and of an attempt rises with the time of creation; that of
/// an attempt is contiguous. `seq` is contiguous over `journal` and `pruned`. The newest line and
/// the newest instance are never pruned, so that no number is used twice.
///
/// Of a line that was pruned, `pruned` keeps what the chain over the whole journal covers. `opened`
/// is 1 if the line opened an attempt, which has its number as the token, so that the deletion of
/// an attempt is noticed.
///
/// `copied` of the store is 1 in a backup that was never opened for writing.
///
/// `replaced` of a message is 0, or its own number once it was set aside and another message took
/// its correlation id.
///
/// A row of `tool` is that of a tool that was irreversible once. `identity` is 1 if its keys are
/// made from an identity, 0 if from all arguments, and NULL until an action shows it. The key of a
/// contract ends with a colon and 64 hexadecimal digits; what is before them is the tool.
///
/// `since` and `position` of a child are its place in the invocation of a state: the number of
/// entries of its parent with the one that entered the state, and its index. A child machine, and a
/// call that was let go, have no `position`; they cost no entry in the index of calls. `since` of a
/// child machine is the version of its parent when it was added.
///
/// A row of `record` is a [`Record`](crate::store::backend::Record), and its `no` rises with the
/// time of creation.
///
/// Of `operation`, `machines` has 16 bytes of each id, and `no` is contiguous.
///
/// The triggers are no protection from an attacker, who can drop them, but from mistakes in a
/// program that writes to the file: what the guarantees rest on is refused.
pub(super) const FORMAT_16: &str = "
    CREATE TABLE store (
        id         BLOB NOT NULL,
        generation INTEGER NOT NULL,
        copied     INTEGER NOT NULL,
        seal       BLOB NOT NULL
    ) STRICT;

    CREATE TABLE definition (
        no          INTEGER PRIMARY KEY,
        machine     TEXT NOT NULL,
        fingerprint INTEGER NOT NULL UNIQUE,
        body        TEXT NOT NULL,
        seal        BLOB NOT NULL
    ) STRICT;

    CREATE TABLE instance (
        no         INTEGER PRIMARY KEY,
        id         BLOB NOT NULL UNIQUE,
        definition INTEGER NOT NULL,
        status     TEXT NOT NULL,
        version    INTEGER NOT NULL,
        epoch      INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        ended      INTEGER NOT NULL,
        contradicted INTEGER NOT NULL,
        due_at     INTEGER,
        session    TEXT,
        key        TEXT,
        behind     BLOB,
        newest     INTEGER NOT NULL,
        commit_id  INTEGER NOT NULL,
        seal       BLOB NOT NULL,
        summary    TEXT NOT NULL,
        state      TEXT NOT NULL
    ) STRICT;
    CREATE INDEX instance_live ON instance (definition) WHERE ended = 0;
    CREATE INDEX instance_ended ON instance (definition, status) WHERE ended = 1;
    CREATE INDEX instance_contradicted ON instance (contradicted) WHERE contradicted = 1;
    CREATE INDEX instance_tail ON instance (substr(id, 13));
    CREATE INDEX instance_session ON instance (session) WHERE session IS NOT NULL;
    CREATE INDEX instance_key ON instance (key) WHERE key IS NOT NULL;
    CREATE INDEX instance_behind ON instance (behind) WHERE behind IS NOT NULL;
    CREATE INDEX instance_due ON instance (due_at) WHERE due_at IS NOT NULL;

    CREATE TABLE context (
        instance INTEGER PRIMARY KEY,
        body     TEXT NOT NULL
    ) STRICT;

    CREATE TABLE journal (
        seq        INTEGER PRIMARY KEY,
        instance   INTEGER NOT NULL,
        number     INTEGER NOT NULL,
        at         INTEGER NOT NULL,
        definition INTEGER NOT NULL,
        actor      TEXT,
        kind       INTEGER NOT NULL,
        edge       INTEGER,
        body       TEXT,
        digest     BLOB NOT NULL,
        chain      BLOB,
        UNIQUE (instance, number)
    ) STRICT;
    CREATE INDEX journal_others ON journal (instance, number, kind) WHERE kind > 1;

    CREATE TABLE attempt (
        no         INTEGER PRIMARY KEY,
        key        TEXT NOT NULL,
        space      TEXT NOT NULL,
        action     BLOB,
        instance   BLOB NOT NULL,
        token      INTEGER NOT NULL,
        hold       INTEGER NOT NULL,
        worker     TEXT,
        expires_at INTEGER,
        seal       BLOB NOT NULL
    ) STRICT;
    CREATE INDEX attempt_key ON attempt (key);
    CREATE INDEX attempt_instance ON attempt (instance);
    CREATE INDEX attempt_tool ON attempt (substr(key, 1, length(key) - 65), token)
        WHERE space = 'contract';
    CREATE INDEX attempt_unanswered ON attempt (worker) WHERE worker IS NOT NULL;

    CREATE TABLE tool (
        name     TEXT PRIMARY KEY,
        identity INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE driven (
        no      INTEGER PRIMARY KEY,
        machine TEXT NOT NULL UNIQUE
    ) STRICT;

    CREATE TABLE worker (
        id   BLOB PRIMARY KEY,
        name TEXT NOT NULL,
        body TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE work (
        instance           INTEGER PRIMARY KEY,
        driven             INTEGER NOT NULL,
        token              INTEGER NOT NULL,
        worker             TEXT,
        wake_at            INTEGER,
        set_at             INTEGER,
        news               INTEGER NOT NULL,
        attempts           INTEGER NOT NULL,
        retry_at           INTEGER,
        set_aside          INTEGER NOT NULL,
        self_sends         INTEGER NOT NULL DEFAULT 0,
        deadline_attempts  INTEGER NOT NULL,
        deadline_retry_at  INTEGER,
        deadline_set_aside INTEGER NOT NULL,
        error              TEXT,
        cause              INTEGER,
        failed_at          INTEGER,
        failures           INTEGER NOT NULL DEFAULT 0,
        unseen_end         INTEGER,
        seen_end           INTEGER,
        others_at          INTEGER,
        queued             INTEGER NOT NULL,
        stuck_at           INTEGER,
        taken_over         INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX work_wake_at ON work (driven, wake_at) WHERE wake_at IS NOT NULL;
    CREATE INDEX work_set_at ON work (driven, set_at) WHERE set_at IS NOT NULL;
    CREATE INDEX work_others_at ON work (driven, others_at) WHERE others_at IS NOT NULL;
    CREATE INDEX work_worker ON work (worker) WHERE worker IS NOT NULL;
    CREATE INDEX work_failed ON work (instance) WHERE error IS NOT NULL;
    CREATE INDEX work_queued ON work (queued) WHERE queued > 1000;
    CREATE INDEX work_stuck ON work (stuck_at) WHERE stuck_at IS NOT NULL;

    CREATE TABLE message (
        no          INTEGER PRIMARY KEY,
        instance    INTEGER NOT NULL,
        correlation TEXT NOT NULL,
        actor       TEXT NOT NULL,
        name        TEXT,
        trigger     TEXT,
        body        TEXT NOT NULL,
        seen        INTEGER,
        sent_at     INTEGER NOT NULL,
        seal        BLOB NOT NULL,
        status      INTEGER NOT NULL,
        status_seal BLOB NOT NULL,
        attempts    INTEGER NOT NULL,
        error       TEXT,
        cause       INTEGER,
        replaced    INTEGER NOT NULL DEFAULT 0,
        UNIQUE (instance, correlation, replaced)
    ) STRICT;
    CREATE INDEX message_queued ON message (instance, no) WHERE status = 0;
    CREATE INDEX message_set_aside ON message (instance, no) WHERE status = 2;

    CREATE TABLE child (
        child    INTEGER PRIMARY KEY,
        parent   INTEGER NOT NULL,
        since    INTEGER NOT NULL,
        position INTEGER,
        seal     BLOB NOT NULL
    ) STRICT;
    CREATE INDEX child_parent ON child (parent);
    CREATE INDEX child_call ON child (parent, since, position) WHERE position IS NOT NULL;

    CREATE TABLE pruned (
        seq    INTEGER PRIMARY KEY,
        digest BLOB NOT NULL,
        chain  BLOB,
        opened INTEGER NOT NULL,
        seal   BLOB NOT NULL
    ) STRICT;

    CREATE TABLE record (
        no      INTEGER PRIMARY KEY,
        kind    TEXT NOT NULL,
        id      BLOB NOT NULL,
        version INTEGER NOT NULL,
        list    TEXT,
        body    TEXT NOT NULL,
        seal    BLOB NOT NULL,
        UNIQUE (kind, id)
    ) STRICT;
    CREATE INDEX record_list ON record (kind, list) WHERE list IS NOT NULL;

    CREATE TABLE operation (
        no       INTEGER PRIMARY KEY,
        at       INTEGER NOT NULL,
        human    TEXT NOT NULL,
        via      TEXT NOT NULL,
        name     TEXT NOT NULL,
        machines BLOB NOT NULL,
        detail   TEXT NOT NULL,
        outcome  TEXT,
        seal     BLOB NOT NULL
    ) STRICT;

    CREATE TRIGGER store_has_one_row BEFORE INSERT ON store WHEN EXISTS (SELECT 1 FROM store)
    BEGIN SELECT RAISE(ABORT, 'a file is one store'); END;
    CREATE TRIGGER operation_is_not_replaced BEFORE INSERT ON operation
    WHEN EXISTS (SELECT 1 FROM operation WHERE no = NEW.no)
    BEGIN SELECT RAISE(ABORT, 'who did what is on record for good'); END;
    CREATE TRIGGER operation_is_kept BEFORE DELETE ON operation
    BEGIN SELECT RAISE(ABORT, 'who did what is on record for good'); END;
    CREATE TRIGGER operation_keeps_who_and_what
    BEFORE UPDATE OF no, at, human, via, name, machines, detail ON operation
    BEGIN SELECT RAISE(ABORT, 'who did what is on record for good'); END;
    CREATE TRIGGER operation_keeps_its_outcome BEFORE UPDATE OF outcome, seal ON operation
    WHEN OLD.outcome IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'how an operation ended is on record for good'); END;
    CREATE TRIGGER pruned_is_kept BEFORE DELETE ON pruned
    BEGIN SELECT RAISE(ABORT, 'the digests of pruned entries are kept'); END;
    CREATE TRIGGER pruned_is_append_only BEFORE UPDATE ON pruned
    BEGIN SELECT RAISE(ABORT, 'the digests of pruned entries are kept'); END;
    CREATE TRIGGER message_is_kept BEFORE DELETE ON message
    WHEN EXISTS (SELECT 1 FROM instance WHERE no = OLD.instance)
        AND (OLD.actor <> 'call' OR OLD.status <> 1)
    BEGIN SELECT RAISE(ABORT, 'a message is deleted only with its machine, or with its call'); END;
    CREATE TRIGGER message_keeps_its_body
    BEFORE UPDATE OF no, instance, correlation, actor, name, trigger, body, sent_at, seal ON message
    BEGIN SELECT RAISE(ABORT, 'a message keeps its body'); END;
    CREATE TRIGGER message_stays_handled BEFORE UPDATE OF status ON message
    WHEN OLD.status IN (1, 3)
    BEGIN SELECT RAISE(ABORT, 'a message that was handled or replaced is never tried again'); END;
    CREATE TRIGGER child_is_kept BEFORE DELETE ON child
    WHEN EXISTS (SELECT 1 FROM instance WHERE no = OLD.child)
        AND EXISTS (SELECT 1 FROM instance WHERE no = OLD.parent)
    BEGIN SELECT RAISE(ABORT, 'a child keeps its parent'); END;
    CREATE TRIGGER child_keeps_its_parent BEFORE UPDATE OF child, parent ON child
    BEGIN SELECT RAISE(ABORT, 'a child keeps its parent'); END;
    CREATE TRIGGER token_rises BEFORE UPDATE OF token ON work WHEN NEW.token < OLD.token
    BEGIN SELECT RAISE(ABORT, 'a fencing token never falls'); END;
    CREATE TRIGGER tool_is_kept BEFORE DELETE ON tool
    BEGIN SELECT RAISE(ABORT, 'a tool that was irreversible stays so'); END;
    CREATE TRIGGER tool_is_not_replaced BEFORE INSERT ON tool
    WHEN EXISTS (SELECT 1 FROM tool WHERE name = NEW.name)
    BEGIN SELECT RAISE(ABORT, 'a tool that was irreversible stays so'); END;
    CREATE TRIGGER tool_keeps_its_name BEFORE UPDATE ON tool
    WHEN NEW.name <> OLD.name
    BEGIN SELECT RAISE(ABORT, 'a tool that was irreversible stays so'); END;
    CREATE TRIGGER tool_keeps_its_identity BEFORE UPDATE ON tool
    WHEN NEW.name = OLD.name AND OLD.identity IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a tool keeps how its keys are made'); END;
    CREATE TRIGGER definition_is_kept BEFORE DELETE ON definition
    BEGIN SELECT RAISE(ABORT, 'definitions are never deleted'); END;
    CREATE TRIGGER definition_keeps_its_fingerprint
    BEFORE UPDATE OF no, machine, fingerprint ON definition
    BEGIN SELECT RAISE(ABORT, 'a definition keeps its fingerprint'); END;
    CREATE TRIGGER instance_is_kept BEFORE DELETE ON instance
    WHEN OLD.ended = 0 OR OLD.no = (SELECT max(no) FROM instance)
        OR EXISTS (SELECT 1 FROM journal WHERE instance = OLD.no)
    BEGIN SELECT RAISE(ABORT, 'machines are deleted only by pruning, after they have ended'); END;
    CREATE TRIGGER instance_keeps_its_identity
    BEFORE UPDATE OF no, id, created_at, session, key, behind ON instance
    BEGIN SELECT RAISE(ABORT, 'a machine keeps its identity'); END;
    CREATE TRIGGER context_is_kept BEFORE DELETE ON context
    WHEN EXISTS (SELECT 1 FROM instance WHERE no = OLD.instance)
    BEGIN SELECT RAISE(ABORT, 'contexts are deleted only with their machine'); END;
    CREATE TRIGGER journal_is_kept BEFORE DELETE ON journal
    WHEN OLD.seq = (SELECT max(seq) FROM journal)
        OR NOT EXISTS (SELECT 1 FROM pruned WHERE seq = OLD.seq AND digest = OLD.digest
                       AND chain IS OLD.chain)
        OR NOT EXISTS (SELECT 1 FROM instance WHERE no = OLD.instance AND ended = 1)
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
    CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
    CREATE TRIGGER instance_is_not_replaced BEFORE INSERT ON instance
    WHEN EXISTS (SELECT 1 FROM instance WHERE no = NEW.no)
        OR EXISTS (SELECT 1 FROM instance WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'machines are never replaced'); END;
    CREATE TRIGGER attempt_is_not_replaced BEFORE INSERT ON attempt
    WHEN EXISTS (SELECT 1 FROM attempt WHERE no = NEW.no)
    BEGIN SELECT RAISE(ABORT, 'attempts are never replaced'); END;
    CREATE TRIGGER attempt_is_kept BEFORE DELETE ON attempt
    BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;
    CREATE TRIGGER attempt_keeps_its_key
    BEFORE UPDATE OF no, key, space, action, instance, token ON attempt
    BEGIN SELECT RAISE(ABORT, 'an attempt keeps its key'); END;
    CREATE TRIGGER record_is_kept BEFORE DELETE ON record
    BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END;
    CREATE TRIGGER record_is_not_replaced BEFORE INSERT ON record
    WHEN EXISTS (SELECT 1 FROM record WHERE no = NEW.no)
        OR EXISTS (SELECT 1 FROM record WHERE kind = NEW.kind AND id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'records are never replaced'); END;
    CREATE TRIGGER record_keeps_its_identity BEFORE UPDATE OF no, kind, id ON record
    BEGIN SELECT RAISE(ABORT, 'a record keeps its identity'); END;
    CREATE TRIGGER record_version_rises BEFORE UPDATE OF version ON record
    WHEN NEW.version <> OLD.version + 1
    BEGIN SELECT RAISE(ABORT, 'the version of a record rises with each write'); END;
";
