//! One approval opens one execution, once.

use machine::{
    Id,
    contract::{
        AnyExecution, Callable, Contract, Execution, Planned,
        execution::{Failed, Pending},
    },
    store::Store,
};
use machine_tests::actors::{ann, ecs_node};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{new_store, view},
    tool::{Pay, Remind, Step, Teller, pay, remind},
    worker::{self, Report},
};

/// Asks, and lets a person approve. Returns the execution that may run.
async fn approved<T: Callable>(store: &Store, contract: Contract) -> Id {
    let (mut gate, mut planned) = contract.ask::<T>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let _ = machine_tests::approve(store, gate, ann()).await.unwrap();
    planned.id()
}

/// Another execution with the same contract, and so behind the same gate.
async fn clone_of(store: &Store, id: Id) -> Id {
    let original: AnyExecution = store.load(id).await.unwrap();
    let mut clone: Execution<Pending> = Execution::new(original.context().clone());
    store.create(&mut clone).await.unwrap();
    assert_eq!(clone.context().behind(), original.context().behind());
    clone.id()
}

async fn failed(store: &Store, id: Id) -> Execution<Failed> {
    match store.load(id).await.unwrap() {
        AnyExecution::Failed(failed) => failed,
        other => panic!("{other:?}"),
    }
}

fn refused(error: &str) -> Report {
    Report::NotBegun(error.to_owned())
}

/// Neither for a clone that was made before the approved one ran, nor for one that was made after.
#[tokio::test]
async fn an_idempotent_action_runs_once_per_approval() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = approved::<Remind>(&store, remind("bob")).await;
    let before = clone_of(&store, id).await;
    let early = worker::run("reminds", &file, before, Teller::pays(&bank));
    assert_eq!(early, refused("OtherAction"));
    let report = worker::run("reminds", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));

    for again in [before, clone_of(&store, id).await] {
        let report = worker::run("reminds", &file, again, Teller::pays(&bank));
        assert_eq!(report, refused("OtherAction"));
        assert!(!view(&store, again).await.human_confirmed);
    }
    assert_eq!(worker::run("reminds", &file, id, Teller::pays(&bank)), Report::NotPending);
    assert_eq!(bank.count(), 1);
    // Asked again, it runs again.
    let again = approved::<Remind>(&store, remind("bob")).await;
    let report = worker::run("reminds", &file, again, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 2".to_owned()));
}

/// After FAILED the approval is used up. A retry is another decision of a person.
#[tokio::test]
async fn a_failure_uses_the_approval_up() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let refuses = Teller::new(&bank, &[Step::Refuse]);

    let id = approved::<Pay>(&store, pay("bob")).await;
    let report = worker::run("pays", &file, id, refuses.clone());
    assert_eq!(report, Report::Failed("the bank is closed".to_owned()));
    let clone = clone_of(&store, id).await;
    assert_eq!(worker::run("pays", &file, clone, Teller::pays(&bank)), refused("OtherAction"));

    let reminder = approved::<Remind>(&store, remind("bob")).await;
    let report = worker::run("reminds", &file, reminder, refuses);
    assert_eq!(report, Report::Failed("the bank is closed".to_owned()));
    let clone = clone_of(&store, reminder).await;
    assert_eq!(worker::run("reminds", &file, clone, Teller::pays(&bank)), refused("OtherAction"));
    assert_eq!(bank.count(), 0);

    // Ann decides to retry, and that is on record as her approval.
    let mut retry: Planned<Pay> = Planned::retry(&failed(&store, id).await, ann()).unwrap();
    store.batch().create(retry.machine()).write().await.unwrap();
    let report = worker::run("pays", &file, retry.id(), Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    assert!(view(&store, retry.id()).await.human_confirmed);
}

/// The approval is for the exact action: another action behind the same gate does not run.
#[tokio::test]
async fn an_approval_is_for_one_action() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = approved::<Pay>(&store, pay("bob")).await;
    let gate = store.load::<AnyExecution>(id).await.unwrap().context().behind();
    // An occurrence makes another action of it, which keeps its place behind the gate.
    let contract = store.load::<AnyExecution>(id).await.unwrap().context().clone();
    let weekly = contract.occurrence("2026-W47", machine_tests::actors::graph_runner()).unwrap();
    assert_eq!(weekly.behind(), gate);
    let mut weekly: Planned<Pay> = Planned::new(weekly).unwrap();
    store.batch().create(weekly.machine()).write().await.unwrap();
    let report = worker::run("pays", &file, weekly.id(), Teller::pays(&bank));
    assert_eq!(report, refused("OtherAction"));
    assert_eq!(bank.count(), 0);
}
