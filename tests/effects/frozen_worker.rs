//! A worker is frozen in its call and declared overdue by another process. Nothing is paid twice.

use std::time::Duration;

use machine::{
    contract::{AnyExecution, Evidence},
    store::CommitError,
    view::Label,
};
use machine_tests::{actors::ann, assert_err};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, label, late, new_store, overdue, stored, view},
    tool::{Pay, Step, Teller, pay},
    worker::{self, Report},
};

/// The time limit of the worker. The others wait until it is over.
const TIMEOUT: Duration = Duration::from_millis(50);

async fn a_frozen_worker_pays_once(dedup: Dedup) {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(dedup);
    let id = stored::<Pay>(&store, pay("bob").timeout_after(TIMEOUT)).await.id();
    let frozen = Teller::new(&bank, &[Step::Freeze, Step::Pay]);
    let mut worker = worker::start("pays", &file, id, frozen);
    worker.freeze();

    // This process declares it overdue. The outcome is unknown, and no person may decide that it did not take
    // effect: the worker would do it.
    let doubt = overdue(&store, id).await;
    assert!(
        doubt.question().contains("could still be running in process "),
        "{}",
        doubt.question()
    );
    assert_eq!(label(&store, id).await, Label::InDoubt);
    let refused = store.confirm_not_applied(doubt, "not on the statement", ann()).await;
    assert_err!(refused, refused if matches!(refused.reason, CommitError::WorkerAlive { .. }));

    // The retry of another process does not get the key.
    let again = stored::<Pay>(&store, pay("bob")).await.id();
    let report = worker::run("pays", &file, again, Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("KeyHeld".to_owned()));
    assert_eq!(bank.count(), 0);

    // It thaws, pays, and its receipt is kept. From now on a claim that nothing was paid is refused.
    worker.thaw();
    let receipt = Evidence::Applied("receipt 1".to_owned());
    assert_eq!(worker.hear::<Report>(), Report::Late(receipt.clone()));
    worker.join();
    assert!(late(&store, id).await.contains(&receipt));
    let doubt = store.in_doubt(id).await.unwrap();
    assert!(doubt.question().starts_with("It took place: receipt 1."), "{}", doubt.question());
    assert!(view(&store, id).await.to_string().starts_with("[IN_DOUBT ⚠️ IRREVERSIBLE] bank.pay"));
    let refused = store.confirm_not_applied(doubt, "I do not see it", ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::Refused { .. }));
    let refused = store.override_not_applied(refused.machine, "I do not see it", ann()).await;
    assert_err!(refused, refused if matches!(refused.reason, CommitError::Refused { .. }));

    let recovered = store.recover().await.unwrap();
    match &recovered.settled[..] {
        [AnyExecution::Completed(done)] => assert_eq!(done.state().result, "receipt 1"),
        other => panic!("{other:?}"),
    }
    assert_eq!(label(&store, id).await, Label::Success);
    let report = worker::run("pays", &file, again, Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("AlreadyDone".to_owned()));
    assert_eq!(bank.count(), 1);
    assert_intact(&store).await;
}

#[tokio::test]
async fn with_a_server_that_recognizes_nothing() {
    a_frozen_worker_pays_once(Dedup::Nothing).await;
}

#[tokio::test]
async fn with_a_server_that_recognizes_keys() {
    a_frozen_worker_pays_once(Dedup::Key).await;
}

#[tokio::test]
async fn with_a_server_that_recognizes_tokens() {
    a_frozen_worker_pays_once(Dedup::Token).await;
}
