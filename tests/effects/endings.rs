//! A service that did the thing and then ended badly is called once, and leaves a doubt that ends.

use std::{path::Path, time::Duration};

use machine::{
    Id,
    contract::{
        AnyExecution, Contract, Evidence, Execution, Planned, Settled,
        execution::{Failed, Waiting},
    },
    store::{CommitError, LoadError, Store},
    view::Label,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, label, late, new_store, overdue, stored},
    tool::{Pay, Step, Teller, pay},
    worker::{self, Report},
};

const TIMEOUT: Duration = Duration::from_millis(50);

/// One payment was made, its outcome is unknown: nothing calls again, in this or another process.
async fn assert_in_doubt(store: &Store, file: &Path, bank: &Bank, id: Id) {
    assert_eq!(bank.count(), 1);
    assert_eq!(label(store, id).await, Label::InDoubt);
    assert_err!(store.resume::<Waiting>(id).await, LoadError::InDoubt { .. });
    let found = store.recover().await.unwrap();
    assert!(found.in_doubt.iter().any(|doubt| doubt.execution().id() == id), "{found:?}");
    assert_eq!(worker::run("pays", file, id, Teller::pays(bank)), Report::NotPending);
    let other = stored::<Pay>(store, pay("bob")).await.id();
    let report = worker::run("pays", file, other, Teller::pays(bank));
    assert_eq!(report, Report::NotBegun("KeyHeld".to_owned()));
    assert_eq!(bank.count(), 1);
}

/// It has come out that the payment was made: nothing calls again.
async fn assert_done(store: &Store, bank: &Bank, id: Id) {
    assert_eq!(label(store, id).await, Label::Success);
    let mut other = Execution::new(pay("bob"));
    assert_err!(store.create(&mut other).await, CommitError::AlreadyDone { .. });
    assert_eq!(bank.count(), 1);
    assert_intact(store).await;
}

/// The bank knows what was paid under the key.
async fn ask_the_bank(store: &Store, bank: &Bank, id: Id) {
    let doubt = store.in_doubt(id).await.unwrap();
    let teller = Teller::pays(bank);
    match store.ask_service::<Pay>(doubt, &teller, tool_node()).await.unwrap() {
        Settled::Completed(done) => assert_eq!(done.state().result, "receipt 1"),
        other => panic!("{other:?}"),
    }
    assert_done(store, bank, id).await;
}

/// Pays in another process, which then reports that it does not know.
async fn pays_and(last: Step, contract: Contract) {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, contract).await.id();
    let mut teller = Teller::new(&bank, &[Step::Pay, last]);
    teller.leaves_at_timeout = true;
    assert_eq!(worker::run("pays", &file, id, teller), Report::InDoubt);
    assert_in_doubt(&store, &file, &bank, id).await;
    ask_the_bank(&store, &bank, id).await;
}

#[tokio::test]
async fn it_failed() {
    pays_and(Step::Fail, pay("bob")).await;
}

#[tokio::test]
async fn it_panicked() {
    pays_and(Step::Panic, pay("bob")).await;
}

#[tokio::test]
async fn it_timed_out_and_its_process_ended() {
    pays_and(Step::Hang, pay("bob").timeout_after(TIMEOUT)).await;
}

/// The receipt is late, and it is taken.
#[tokio::test]
async fn it_timed_out_and_answered_later() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    bank.hold_replies();
    let id = stored::<Pay>(&store, pay("bob").timeout_after(TIMEOUT)).await.id();
    let mut worker = worker::start("pays", &file, id, Teller::pays(&bank));
    bank.wait_for_payments(1);
    let doubt = overdue(&store, id).await;
    let refused = store.confirm_not_applied(doubt, "no reply", ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::WorkerAlive { .. }), "{refused}");
    assert_in_doubt(&store, &file, &bank, id).await;

    bank.release();
    let receipt = Evidence::Applied("receipt 1".to_owned());
    assert_eq!(worker.hear::<Report>(), Report::Late(receipt.clone()));
    worker.join();
    assert!(late(&store, id).await.contains(&receipt));
    assert!(matches!(store.recover().await.unwrap().settled[..], [AnyExecution::Completed(_)]));
    assert_done(&store, &bank, id).await;
}

/// It does not know even then, and has paid.
#[tokio::test]
async fn it_timed_out_and_failed_later() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    bank.hold_replies();
    let id = stored::<Pay>(&store, pay("bob").timeout_after(TIMEOUT)).await.id();
    let teller = Teller::new(&bank, &[Step::Pay, Step::Fail]);
    let mut worker = worker::start("pays", &file, id, teller);
    bank.wait_for_payments(1);
    let _ = overdue(&store, id).await;
    bank.release();
    assert!(matches!(worker.hear(), Report::Late(Evidence::Unknown(_))));
    worker.join();
    assert_in_doubt(&store, &file, &bank, id).await;
    ask_the_bank(&store, &bank, id).await;
}

/// It does not know even then, and has not paid. What it said proves that it has ended, so a person can free the key
/// without an override, also after its process has ended in order and left no trace.
#[tokio::test]
async fn it_timed_out_and_failed_later_without_paying() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob").timeout_after(TIMEOUT)).await.id();
    let teller = Teller::new(&bank, &[Step::Wait, Step::Fail]);
    let mut worker = worker::start("pays", &file, id, teller);
    let doubt = overdue(&store, id).await;
    let refused = store.confirm_not_applied(doubt, "not there", ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::WorkerAlive { .. }), "{refused}");
    worker.go();
    assert!(matches!(worker.hear(), Report::Late(Evidence::Unknown(_))));
    worker.join();
    let doubt = store.in_doubt(id).await.unwrap();
    let failed = store.confirm_not_applied(doubt, "not there", ann()).await.unwrap();
    retry_pays_once(&store, &file, &bank, &failed).await;
}

async fn retry_pays_once(store: &Store, file: &Path, bank: &Bank, failed: &Execution<Failed>) {
    let mut retry = Planned::<Pay>::retry(failed, ann()).unwrap();
    store.batch().create(retry.machine()).write().await.unwrap();
    let report = worker::run("pays", file, retry.id(), Teller::pays(bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    assert_eq!(bank.count(), 1);
}

/// Its future was dropped while it waited for the bank.
#[tokio::test]
async fn it_was_cancelled() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let teller = Teller::new(&bank, &[Step::Pay, Step::Say, Step::Hang]);
    let mut worker = worker::start("cancels", &file, id, teller);
    assert_eq!(worker.hear::<String>(), "in the call");
    worker.go();
    assert_eq!(worker.hear::<String>(), "dropped");
    // Other processes see a worker that is alive, and leave it alone.
    assert!(store.recover().await.unwrap().in_doubt.is_empty());
    assert_eq!(label(&store, id).await, Label::InProgress);
    // Its own knows better.
    worker.go();
    assert_eq!(worker.hear::<Vec<Id>>(), [id]);
    worker.join();
    assert_in_doubt(&store, &file, &bank, id).await;
    let doubt = store.in_doubt(id).await.unwrap();
    let _ = store.confirm_applied(doubt, "on the statement", ann()).await.unwrap();
    assert_done(&store, &bank, id).await;
}

#[tokio::test]
async fn it_was_killed() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let teller = Teller::new(&bank, &[Step::Pay, Step::Die]);
    worker::start("pays", &file, id, teller).wait_until_dead();
    assert_eq!(store.recover().await.unwrap().in_doubt.len(), 1);
    assert_in_doubt(&store, &file, &bank, id).await;
    ask_the_bank(&store, &bank, id).await;
}

/// Killed from outside, while the bank has the request and has not paid yet.
#[tokio::test]
async fn it_was_killed_while_it_waited() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    bank.hold_replies();
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let worker = worker::start("pays", &file, id, Teller::pays(&bank));
    bank.wait_for_payments(1);
    worker.kill();
    bank.release();
    assert_eq!(store.recover().await.unwrap().in_doubt.len(), 1);
    assert_in_doubt(&store, &file, &bank, id).await;
    let doubt = store.in_doubt(id).await.unwrap();
    let _ = store.confirm_applied(doubt, "on the statement", ann()).await.unwrap();
    assert_done(&store, &bank, id).await;
}

#[tokio::test]
async fn it_was_frozen_and_thawed() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let teller = Teller::new(&bank, &[Step::Pay, Step::Freeze]);
    let mut worker = worker::start("pays", &file, id, teller);
    worker.freeze();
    assert!(store.recover().await.unwrap().in_doubt.is_empty(), "it is alive, and not overdue");
    let _ = store.fence(id, "it does not answer", graph_runner()).await.unwrap();
    assert_in_doubt(&store, &file, &bank, id).await;
    worker.thaw();
    assert_eq!(worker.hear::<Report>(), Report::Late(Evidence::Applied("receipt 1".to_owned())));
    worker.join();
    assert!(matches!(store.recover().await.unwrap().settled[..], [AnyExecution::Completed(_)]));
    assert_done(&store, &bank, id).await;
}

/// The endings above, with a service that did nothing: that is unknown, too, and a person frees the
/// key after the worker has ended.
#[tokio::test]
async fn it_did_nothing_and_ended_badly() {
    for last in [Step::Fail, Step::Panic, Step::Die] {
        let (_folder, file, store) = new_store().await;
        let bank = Bank::open(Dedup::Nothing);
        let id = stored::<Pay>(&store, pay("bob")).await.id();
        let mut worker = worker::start("pays", &file, id, Teller::new(&bank, &[last]));
        if last == Step::Die {
            worker.wait_until_dead();
        } else {
            assert_eq!(worker.hear::<Report>(), Report::InDoubt);
            worker.join();
        }
        let found = store.recover().await.unwrap().in_doubt;
        let doubt = found.into_iter().next().unwrap();
        let failed = store.confirm_not_applied(doubt, "not on the statement", ann()).await.unwrap();
        retry_pays_once(&store, &file, &bank, &failed).await;
    }
}
