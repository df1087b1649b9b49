//! The state of a key is a fold of its attempts, which are never deleted.

use crate::{effects::prelude::*, store::support::edit};

/// Each of these would free a key; the triggers of the file refuse them.
#[tokio::test]
async fn the_file_refuses_to_free_a_key() {
    let place = Place::new().await;
    let _ = place.done(mail("ann")).await;
    let (_running, _permit) = place.begun(mail("bob")).await;
    let before = place.dump();
    for (sql, why) in [
        ("DELETE FROM instance", "machines are deleted only by pruning"),
        ("DELETE FROM attempt", "attempts are never deleted"),
        ("DELETE FROM journal", "append-only"),
        ("DELETE FROM context", "contexts are deleted only with their machine"),
        ("DELETE FROM definition", "definitions are never deleted"),
        ("DELETE FROM tool", "stays so"),
        ("UPDATE tool SET name = 'x'", "stays so"),
        ("REPLACE INTO tool SELECT name, 1 FROM tool", "stays so"),
        ("UPDATE tool SET identity = 1", "keeps how its keys are made"),
        ("UPDATE instance SET key = NULL", "keeps its identity"),
        ("UPDATE instance SET id = zeroblob(16)", "keeps its identity"),
        ("UPDATE instance SET no = no + 100", "keeps its identity"),
        ("UPDATE instance SET behind = NULL", "keeps its identity"),
        ("UPDATE instance SET session = NULL", "keeps its identity"),
        ("UPDATE instance SET created_at = 0", "keeps its identity"),
        ("UPDATE attempt SET key = 'x'", "keeps its key"),
        ("UPDATE attempt SET space = 'x'", "keeps its key"),
        ("UPDATE attempt SET action = NULL", "keeps its key"),
        ("UPDATE attempt SET instance = zeroblob(16)", "keeps its key"),
        ("UPDATE attempt SET token = 0", "keeps its key"),
        ("UPDATE attempt SET no = no + 100", "keeps its key"),
        ("UPDATE journal SET body = NULL", "append-only"),
        ("UPDATE journal SET body = '{}', digest = x''", "append-only"),
        ("UPDATE journal SET at = 0", "append-only"),
        ("UPDATE definition SET fingerprint = 0", "keeps its fingerprint"),
    ] {
        let refused = place.raw().execute(sql, []);
        let Err(refused) = refused else { panic!("{sql} was not refused") };
        assert!(refused.to_string().contains(why), "{sql}: {refused}");
    }
    assert_eq!(place.dump(), before);
}

/// `REPLACE` deletes the row that is in the way. (Other rows are not protected from it; what was
/// replaced fails verification.)
#[tokio::test]
async fn the_file_refuses_to_replace_machines_and_attempts() {
    let place = Place::new().await;
    let _ = place.done(mail("ann")).await;
    let before = place.dump();
    let others = "SELECT group_concat(name, ', ') FROM pragma_table_info('instance')
                  WHERE name NOT IN ('no', 'id')";
    let columns: String = place.raw().query_row(others, [], |row| row.get(0)).unwrap();
    for sql in [
        "INSERT OR REPLACE INTO instance SELECT * FROM instance".to_owned(),
        format!("INSERT OR REPLACE INTO instance SELECT 100, id, {columns} FROM instance"),
        format!("REPLACE INTO instance SELECT no, zeroblob(16), {columns} FROM instance"),
        "INSERT OR REPLACE INTO attempt SELECT * FROM attempt".to_owned(),
    ] {
        let Err(refused) = place.raw().execute(&sql, []) else { panic!("{sql} was accepted") };
        assert!(refused.to_string().contains("never replaced"), "{refused}");
    }
    assert_eq!(place.dump(), before);
}

/// A file without triggers, whose instance and journal rows are gone or changed: the attempt still
/// holds the key.
#[tokio::test]
async fn deleting_a_machine_does_not_free_its_key() {
    const DELETED: &str = "DELETE FROM instance WHERE no = ?1";
    const NO_JOURNAL: &str = "DELETE FROM journal WHERE instance = ?1";
    const NO_CONTEXT: &str = "DELETE FROM context WHERE instance = ?1";
    for edits in [
        &[DELETED][..],
        &[NO_JOURNAL],
        &[DELETED, NO_JOURNAL, NO_CONTEXT],
        &["UPDATE instance SET key = NULL WHERE no = ?1"],
        &["UPDATE instance SET key = 'another' WHERE no = ?1"],
        &["UPDATE instance SET status = 'failed' WHERE no = ?1"],
        &["UPDATE instance SET id = randomblob(16) WHERE no = ?1"],
    ] {
        let place = Place::new().await;
        let done = place.done(mail("ann")).await.id();
        let other = place.stored(mail("bob")).await;
        let (running, _permit) = place.begun(mail("bob")).await;
        let raw = place.unprotected();
        for number in [1, 3] {
            for sql in edits {
                assert!(raw.execute(sql, [number]).unwrap() > 0, "{sql}");
            }
        }
        place.is_done(mail("ann"), done).await;
        assert_is!(place.refuses(other).await,
            EffectError::Commit(CommitError::KeyHeld { by, .. }) if *by == running.id());
    }
}

/// The attempts of a machine whose row is still there are missed.
#[tokio::test]
async fn deleting_attempts_does_not_free_a_key() {
    let place = Place::new().await;
    let (ann, bob) = (place.stored(mail("ann")).await, place.stored(mail("bob")).await);
    let done = place.done(mail("ann")).await.id();
    let (_running, _permit) = place.begun(mail("bob")).await;
    assert_eq!(place.edit("DELETE FROM attempt", done), 2);
    for pending in [ann, bob] {
        let id = pending.id();
        let refused = place.refuses(pending).await;
        let text = refused.to_string();
        assert_is!(refused, EffectError::Commit(CommitError::BrokenAttempt { id: of, .. }) if *of == id);
        assert_eq!(place.status(id).await, Status::Pending);
        assert!(text.contains("plan it with an `occurrence`"), "{text}");
    }
    // Another occurrence is the way out.
    let repeated = mail("ann").occurrence("after the damage", graph_runner()).unwrap();
    let repeated = place.stored(repeated).await;
    assert!(begin(&place.store, repeated).await.is_ok());
}

/// A machine that was deleted is not committed, and its outcome is not lost.
#[tokio::test]
async fn deleted_attempts_are_not_found() {
    let place = Place::new().await;
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let outcome = applied(permit, "250 queued").await;
    let raw = place.unprotected();
    raw.execute("CREATE TABLE kept AS SELECT * FROM instance", []).unwrap();
    edit(&raw, "DELETE FROM instance WHERE id = ?1", id);
    let before = place.dump();
    let refused = place.store.settle(running, outcome, tool_node()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::NotFound { id: of }) if *of == id);
    assert_eq!(place.dump(), before);
    let (running, outcome) = refused.machine;
    raw.execute("INSERT INTO instance SELECT * FROM kept", []).unwrap();
    let settled = place.settled(running, outcome).await;
    assert_is!(settled, Settled::Completed(_));
}

/// A row with a key that does not belong to its contract fails verification. It takes no key: the
/// attempts at a key do, and only this library makes them.
#[tokio::test]
async fn an_edited_key_takes_nothing() {
    let place = Place::new().await;
    let id = place.stored(mail("ann")).await.id();
    let key = mail("bob").idempotency_key().unwrap().to_string();
    place.edit(&format!("UPDATE instance SET key = '{key}' WHERE id = ?1"), id);
    let refused = place.store.load::<AnyExecution>(id).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::History { .. }));
    let _ = place.done(mail("bob")).await;
}
