//! The state of a key is a fold of its attempts, which are never deleted (EX-5).

use machine::{
    Id,
    actor::{GraphRunner, ReasoningNode, ToolNode},
    clock,
    contract::{CallFact, Contract, Evidence, Settled, execution::Status},
    store::{Begin, CommitError},
    typed::Refused,
};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};

use crate::support::{Place, applied, begin, edit, not_applied, on_both};

on_both! {
    two_machines_of_a_batch_do_not_both_get_a_key,
    late_evidence_holds_the_key_even_while_a_retry_runs,
    late_evidence_that_nothing_happened_holds_nothing,
}

/// Each of these would free a key; the triggers of the file refuse them.
#[tokio::test]
async fn the_file_refuses_to_free_a_key() {
    let place = Place::new().await;
    let _ = place.done(mail("ann")).await;
    let (_running, _permit) = place.begun(mail("bob")).await;
    let before = place.dump().await;
    for (sql, why) in [
        ("DELETE FROM instance", "machines are never deleted"),
        ("DELETE FROM attempt", "attempts are never deleted"),
        ("DELETE FROM journal", "append-only"),
        ("DELETE FROM context", "contexts are never deleted"),
        ("DELETE FROM definition", "definitions are never deleted"),
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
        ("UPDATE definition SET fingerprint = 0", "keeps its fingerprint"),
    ] {
        let refused = place.raw().execute(sql, []);
        let Err(refused) = refused else { panic!("{sql} was not refused") };
        assert!(refused.to_string().contains(why), "{sql}: {refused}");
    }
    assert_eq!(place.dump().await, before);
}

/// `REPLACE` deletes the row that is in the way. (Other rows are not protected from it; what was
/// replaced fails verification.)
#[tokio::test]
async fn the_file_refuses_to_replace_machines_and_attempts() {
    let place = Place::new().await;
    let _ = place.done(mail("ann")).await;
    let before = place.dump().await;
    let columns =
        "definition, status, version, epoch, created_at, updated_at, due_at, session, key,
                   behind, newest, commit_id, seal, summary, state";
    for sql in [
        "INSERT OR REPLACE INTO instance SELECT * FROM instance".to_owned(),
        format!("INSERT OR REPLACE INTO instance SELECT 100, id, {columns} FROM instance"),
        format!("REPLACE INTO instance SELECT no, zeroblob(16), {columns} FROM instance"),
        "INSERT OR REPLACE INTO attempt SELECT * FROM attempt".to_owned(),
    ] {
        let Err(refused) = place.raw().execute(&sql, []) else { panic!("{sql} was accepted") };
        assert!(refused.to_string().contains("never replaced"), "{refused}");
    }
    assert_eq!(place.dump().await, before);
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
        let mut again = pending_mail("ann");
        let refused = place.store.create(&mut again).await;
        assert_err!(refused, CommitError::AlreadyDone { by, .. } if *by == done);
        let refused = begin(&place.store, other).await;
        assert_err!(refused, CommitError::KeyHeld { by, .. } if *by == running.id());
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
        let refused = begin(&place.store, pending).await;
        assert_err!(refused, CommitError::BrokenAttempt { id: of, .. } if *of == id);
        assert_eq!(place.status(id).await, Status::Pending);
    }
}

/// A machine that was deleted is not committed, and its outcome is not lost.
#[tokio::test]
async fn what_was_deleted_is_not_found() {
    let place = Place::new().await;
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let raw = place.unprotected();
    raw.execute("CREATE TABLE kept AS SELECT * FROM instance", []).unwrap();
    edit(&raw, "DELETE FROM instance WHERE id = ?1", id);
    let before = place.dump().await;
    let outcome = applied(permit, "250 queued").await;
    let Err(Refused { machine: (running, outcome), reason }) =
        place.store.settle(running, outcome, &ToolNode).await
    else {
        panic!("there is no such machine");
    };
    assert_err!(Err::<(), _>(reason), CommitError::NotFound { id: of } if *of == id);
    assert_eq!(place.dump().await, before);
    raw.execute("INSERT INTO instance SELECT * FROM kept", []).unwrap();
    let settled = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}

/// Neither or one, never both.
async fn two_machines_of_a_batch_do_not_both_get_a_key(place: Place) {
    let (first, second) = (place.stored(mail("bob")).await, place.stored(mail("bob")).await);
    let ids = [first.id(), second.id()];
    let before = place.dump().await;
    let mut begins = [Begin::new(first, &ToolNode), Begin::new(second, &ToolNode)];
    let [one, other] = &mut begins;
    let refused = place.store.batch().begin(one).begin(other).write().await;
    assert_err!(refused, CommitError::KeyHeld { id, by } if [*by, *id] == ids);
    assert_eq!(place.dump().await, before);
    let [one, other] = begins.map(|begin| begin.into_pending().unwrap());
    let (running, _permit) = begin(&place.store, one).await.unwrap();
    let refused = begin(&place.store, other).await;
    assert_err!(refused, CommitError::KeyHeld { by, .. } if *by == running.id());
}

/// A worker is fenced, a person says that nothing happened, and a retry begins. Then the worker comes
/// back: it did take place.
async fn late_evidence_holds_the_key_even_while_a_retry_runs(place: Place) {
    let (running, late_permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    let first = running.id();
    pass(clock::now());
    let doubt = place.recovered().await.pop().unwrap();
    let failed =
        place.store.confirm_not_applied(doubt, "nothing there", &GraphRunner).await.unwrap();
    let retry = Contract::retry(&failed, &ReasoningNode).timeout_seconds(3600);
    let (retrying, permit) = place.begun(retry).await;
    assert!(permit.token() > late_permit.token());

    let outcome = applied(late_permit, "250 queued").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { id }, .. } if *id == first);
    let last = place.entries(first).await.pop().unwrap();
    let Some(CallFact::Evidence { evidence, late: true, epoch: 0 }) = CallFact::of(&last) else {
        panic!("{last:?}");
    };
    assert_eq!(evidence, Evidence::Applied("250 queued".to_owned()));

    // The retry is not refused its own outcome, whatever that is, and frees nothing.
    let outcome = not_applied(permit, "connection refused").await;
    let settled = place.store.settle(retrying, outcome, &ToolNode).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)));
    refuse_for_good(&place, first).await;
    let place = place.reopened().await;
    refuse_for_good(&place, first).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

async fn refuse_for_good(place: &Place, by: Id) {
    let mut again = pending_mail("bob");
    let refused = place.store.create(&mut again).await;
    assert_err!(refused, CommitError::AlreadyDone { by: of, .. } if *of == by);
}

/// The same, but the worker has nothing to report.
async fn late_evidence_that_nothing_happened_holds_nothing(place: Place) {
    let (running, late_permit) = place.begun(mail("bob").timeout_seconds(0)).await;
    pass(clock::now());
    let doubt = place.recovered().await.pop().unwrap();
    let _ = place.store.confirm_not_applied(doubt, "nothing there", &GraphRunner).await.unwrap();
    let (retrying, permit) = place.begun(mail("bob")).await;
    let outcome = not_applied(late_permit, "never sent").await;
    let settled = place.store.settle(running, outcome, &ToolNode).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
    let outcome = applied(permit, "sent").await;
    let settled = place.store.settle(retrying, outcome, &ToolNode).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    refuse_for_good(&place, done.id()).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Waits until the clock has passed `since`.
fn pass(since: i64) {
    while clock::now() <= since {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
