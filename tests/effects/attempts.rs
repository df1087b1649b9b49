//! The state of a key is a fold of its attempts, which are never deleted (EX-5).

use machine::{
    Id,
    contract::{
        CallFact, Contract, Evidence, Execution, NotDone, Settled,
        execution::{Failed, Status},
    },
    store::CommitError,
    typed::Refused,
    view::Label,
};
use machine_tests::actors::{ann, graph_runner, tool_node};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};

use crate::store::{
    service::{in_flight, receipt},
    support::{Place, applied, begin, begin_of, edit, not_applied, on_both},
};

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
        "definition, status, version, epoch, created_at, updated_at, ended, due_at, session,
                   key, behind, newest, commit_id, seal, summary, state";
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
        let reason = refused.as_ref().map(drop).unwrap_err().to_string();
        assert_err!(refused, CommitError::BrokenAttempt { id: of, .. } if *of == id);
        assert_eq!(place.status(id).await, Status::Pending);
        assert!(reason.contains("plan it with an `occurrence`"), "{reason}");
    }
    // Another occurrence is the way out.
    let repeated = mail("ann").occurrence("after the damage", graph_runner()).unwrap();
    let repeated = place.stored(repeated).await;
    assert!(begin(&place.store, repeated).await.is_ok());
}

/// A machine that was deleted is not committed, and its outcome is not lost.
#[tokio::test]
async fn what_was_deleted_is_not_found() {
    let place = Place::new().await;
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let outcome = applied(permit, "250 queued").await;
    let raw = place.unprotected();
    raw.execute("CREATE TABLE kept AS SELECT * FROM instance", []).unwrap();
    edit(&raw, "DELETE FROM instance WHERE id = ?1", id);
    let before = place.dump().await;
    let Err(Refused { machine: (running, outcome), reason }) =
        place.store.settle(running, outcome, tool_node()).await
    else {
        panic!("there is no such machine");
    };
    assert_err!(Err::<(), _>(reason), CommitError::NotFound { id: of } if *of == id);
    assert_eq!(place.dump().await, before);
    raw.execute("INSERT INTO instance SELECT * FROM kept", []).unwrap();
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}

/// Neither or one, never both.
async fn two_machines_of_a_batch_do_not_both_get_a_key(place: Place) {
    let (first, second) = (place.stored(mail("bob")).await, place.stored(mail("bob")).await);
    let ids = [first.id(), second.id()];
    let before = place.dump().await;
    let mut begins = [begin_of(first), begin_of(second)];
    let [one, other] = &mut begins;
    let refused = place.store.batch().begin(one).begin(other).write().await;
    assert_err!(refused, CommitError::KeyHeld { id, by } if [*by, *id] == ids);
    assert_eq!(place.dump().await, before);
    let [one, other] = begins.map(|begin| begin.finish().unwrap_err());
    let (running, _permit) = begin(&place.store, one).await.unwrap();
    let refused = begin(&place.store, other).await;
    assert_err!(refused, CommitError::KeyHeld { by, .. } if *by == running.id());
}

/// A worker is fenced, a person says by name that nothing happened, although the worker is alive, and
/// a retry begins. Then the worker comes back: it did take effect.
async fn late_evidence_holds_the_key_even_while_a_retry_runs(place: Place) {
    let (running, late_permit) = place.begun(mail("bob")).await;
    let (first, late_token) = (running.id(), late_permit.token());
    let late = in_flight(late_permit).await;
    let doubt = place.store.fence(first, "no answer", graph_runner()).await.unwrap();
    let failed = place.store.override_not_applied(doubt, "nothing there", ann()).await.unwrap();
    let (retrying, permit) = place.begun(Contract::retry(&failed, ann())).await;
    assert!(permit.token() > late_token);

    let outcome = late.answer(receipt("250 queued")).await;
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { id }, .. } if *id == first);
    let evidence = Evidence::Applied("250 queued".to_owned());
    let late = CallFact::Evidence { epoch: 0, evidence, late: true };
    assert!(place.facts(first).await.contains(&late));
    assert_eq!(place.view(first).await.consequence_label, Label::Contradicted);

    // The retry is not refused its own outcome, whatever that is, and frees nothing.
    let outcome = not_applied(permit, "connection refused").await;
    let settled = place.store.settle(retrying, outcome, tool_node()).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    refuse_for_good(&place, first, &failed).await;
    let place = place.reopened().await;
    refuse_for_good(&place, first, &failed).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Neither the same action nor a retry that a person decides.
async fn refuse_for_good(place: &Place, by: Id, failed: &Execution<Failed>) {
    for contract in [mail("bob"), Contract::retry(failed, ann())] {
        let mut again = Execution::new(contract);
        let refused = place.store.create(&mut again).await;
        assert_err!(refused, CommitError::AlreadyDone { by: of, .. } if *of == by);
    }
}

/// As above, but the worker has nothing to report.
async fn late_evidence_that_nothing_happened_holds_nothing(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let first = running.id();
    let late = in_flight(permit).await;
    let doubt = place.store.fence(first, "no answer", graph_runner()).await.unwrap();
    let failed = place.store.override_not_applied(doubt, "nothing there", ann()).await.unwrap();
    let (retrying, permit) = place.begun(mail("bob")).await;
    let outcome = late.answer(Err(NotDone::not_applied("never sent"))).await;
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
    assert_eq!(place.view(first).await.consequence_label, Label::Failed);
    let outcome = applied(permit, "sent").await;
    let settled = place.store.settle(retrying, outcome, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    refuse_for_good(&place, done.id(), &failed).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}
