//! Idempotent calls that were interrupted run again.

use std::sync::Arc;

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Call, CallFact, Callable, Execution, NotDone, Settled,
        execution::{Running, Status},
        service_fn,
    },
    effects::PerformError,
    journal::Fact,
    store::{CommitError, LoadError, Store},
};
use machine_tests::{
    actors::tool_node,
    assert_err,
    samples::{mail, read},
};

use crate::effects::tools::{Track, lookup};
use crate::store::{
    child,
    service::{Counting, answers, in_flight, receipt},
    support::{Place, begin, on_both, pending},
};

on_both! {
    what_was_interrupted_runs_again,
    what_is_being_worked_on_is_not_interrupted,
    what_is_overdue_may_run_again,
    one_of_two_takes_it_over,
    an_interrupted_worker_that_comes_back_changes_nothing,
    only_what_was_interrupted_runs_again,
    it_may_fail,
    an_interrupted_call_is_not_in_doubt,
    a_typed_tool_runs_again,
}

/// The interrupted executions that `recover` finds; it must find nothing else.
async fn interrupted(store: &Store) -> Vec<Execution<Running>> {
    let recovered = store.recover().await.unwrap();
    assert_eq!((recovered.in_doubt.len(), recovered.settled.len()), (0, 0));
    assert_eq!(recovered.failed.len(), 0, "{:?}", recovered.failed);
    recovered.interrupted
}

fn reason<T: Callable>(error: PerformError<T>) -> CommitError {
    match error {
        PerformError::NotBegun { source, .. }
        | PerformError::NotSettled { source, .. }
        | PerformError::NotResumed { source, .. } => source,
        other => panic!("{other:?}"),
    }
}

async fn running(place: &Place, id: Id) -> Execution<Running> {
    match place.store.load::<AnyExecution>(id).await.unwrap() {
        AnyExecution::Running(running) => running,
        other => panic!("expected RUNNING, found {other:?}"),
    }
}

/// The old worker is fenced first.
async fn what_was_interrupted_runs_again(place: Place) {
    let (old, permit) = place.begun(read("a.txt")).await;
    drop(permit);
    let before = place.dump().await;
    let mut found = interrupted(&place.store).await;
    assert_eq!(place.dump().await, before, "finding it changes nothing");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id(), old.id());
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let service = Arc::clone(&server);
    let settled =
        place.store.perform_again::<Action>(found.remove(0), service, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!((done.state().result.as_str(), server.calls()), ("42 lines", 1));
    assert_eq!(done.journal().epoch(), 1);
    let entries = place.entries(done.id()).await;
    assert!(entries.iter().any(|entry| matches!(entry.fact, Fact::Fenced { epoch: 1, .. })));
    let permits = place.facts(done.id()).await;
    let permits = permits.iter().filter(|fact| matches!(fact, CallFact::Permitted { .. }));
    assert_eq!(permits.count(), 2);
    assert_eq!(interrupted(&place.store).await.len(), 0);
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

async fn what_is_being_worked_on_is_not_interrupted(place: Place) {
    let (old, permit) = place.begun(read("a.txt")).await;
    let call = in_flight(permit).await;
    assert_eq!(interrupted(&place.store).await.len(), 0);
    assert_eq!(interrupted(&place.open_again().await).await.len(), 0);
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let service = Arc::clone(&server);
    let loaded = running(&place, old.id()).await;
    let refused = place.store.perform_again::<Action>(loaded, service, tool_node()).await;
    assert_err!(refused.map_err(reason),
        CommitError::NotInterrupted { id } if *id == old.id());
    assert_eq!(server.calls(), 0);
    let outcome = call.answer(receipt("42 lines")).await;
    let _ = place.store.settle(old, outcome, tool_node()).await.unwrap();
}

/// A worker may be frozen in an idempotent call: after its timeout another one may call, too.
async fn what_is_overdue_may_run_again(place: Place) {
    let (place, clock) = place.clocked().await;
    let (old, permit) = place.begun(read("a.txt")).await;
    let call = in_flight(permit).await;
    assert_eq!(interrupted(&place.store).await.len(), 0);
    clock.advance(30_001);
    let found = interrupted(&place.store).await.pop().unwrap();
    let service = answers(receipt("42 lines"));
    let settled = place.store.perform_again::<Action>(found, service, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");

    let outcome = call.answer(receipt("41 lines")).await;
    let refused = place.store.settle(old, outcome, tool_node()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::Fenced { .. }), "{refused:?}");
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

async fn one_of_two_takes_it_over(place: Place) {
    let (old, permit) = place.begun(read("a.txt")).await;
    drop(permit);
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let (mine, theirs) = (running(&place, old.id()).await, running(&place, old.id()).await);
    let other = place.open_again().await;
    let (one, two) = tokio::join!(
        place.store.perform_again::<Action>(mine, Arc::clone(&server), tool_node()),
        other.perform_again::<Action>(theirs, Arc::clone(&server), tool_node()),
    );
    let ended = [one.is_ok(), two.is_ok()].into_iter().filter(|ok| *ok).count();
    assert_eq!((ended, server.calls()), (1, 1));
    for refused in [one, two].into_iter().filter_map(Result::err) {
        let reason = reason(refused);
        assert!(
            matches!(reason, CommitError::Conflict { .. } | CommitError::NotInterrupted { .. }),
            "{reason:?}",
        );
    }
    assert_eq!(place.status(old.id()).await, Status::Completed);
}

async fn an_interrupted_worker_that_comes_back_changes_nothing(place: Place) {
    let (old, permit) = place.begun(read("a.txt")).await;
    let id = old.id();
    drop(permit);
    let service = answers(receipt("42 lines"));
    let loaded = running(&place, id).await;
    let _ = place.store.perform_again::<Action>(loaded, service, tool_node()).await.unwrap();
    let mut stale = old.succeed("41 lines".to_owned(), tool_node());
    assert_err!(place.store.commit(&mut stale).await, CommitError::Conflict { id: of } if *of == id);
    let AnyExecution::Completed(done) = place.store.load(id).await.unwrap() else { panic!() };
    assert_eq!(done.state().result, "42 lines");
}

/// Not what is irreversible, and not what its program started without `begin`.
async fn only_what_was_interrupted_runs_again(place: Place) {
    let (irreversible, permit) = place.begun(mail("bob")).await;
    let mut plain = place.stored(read("a.txt")).await.start(tool_node());
    place.store.commit(&mut plain).await.unwrap();
    let (hinted, hinted_permit) = place.begun(read("b.txt").irreversible()).await;
    let server = Arc::new(Counting::new(receipt("42 lines")));
    for id in [irreversible.id(), plain.id(), hinted.id()] {
        let loaded = running(&place, id).await;
        let refused =
            place.store.perform_again::<Action>(loaded, Arc::clone(&server), tool_node()).await;
        assert_err!(refused.map_err(reason),
            CommitError::NotInterrupted { id: of } if *of == id);
        assert_eq!(place.status(id).await, Status::Running);
    }
    assert_eq!(server.calls(), 0);
    drop((permit, hinted_permit));
    let recovered = place.store.recover().await.unwrap();
    assert_eq!((recovered.in_doubt.len(), recovered.interrupted.len()), (2, 0));
}

async fn it_may_fail(place: Place) {
    let (_old, permit) = place.begun(read("a.txt")).await;
    drop(permit);
    let found = interrupted(&place.store).await.pop().unwrap();
    let service = answers(Err(NotDone::unknown("read timed out")));
    let settled = place.store.perform_again::<Action>(found, service, tool_node()).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "read timed out");
    assert_eq!(interrupted(&place.store).await.len(), 0);
}

/// It is not in doubt, so it can be loaded by its id.
async fn an_interrupted_call_is_not_in_doubt(place: Place) {
    let (old, permit) = place.begun(read("a.txt")).await;
    drop(permit);
    assert_err!(place.store.in_doubt(old.id()).await, LoadError::NotInDoubt { .. });
    let running = place.store.resume::<Running>(old.id()).await.unwrap();
    let service = answers(receipt("42 lines"));
    let settled = place.store.perform_again::<Action>(running, service, tool_node()).await;
    assert!(matches!(settled, Ok(Settled::Completed(_))));
}

/// Its service gets the stored arguments; a service of another tool is refused.
async fn a_typed_tool_runs_again(place: Place) {
    let (_old, permit) = place.begun(lookup(4711)).await;
    drop(permit);
    let (_other, other_permit) = place.begun(read("a.txt")).await;
    drop(other_permit);
    let mut found = interrupted(&place.store).await;
    let (tracked, file) = (found.remove(0), found.remove(0));
    let office = service_fn(|call: &Call<Track>| {
        let number = call.arguments().number;
        Box::pin(async move { receipt(&format!("{number} is on its way")) })
    });
    let refused = place.store.perform_again::<Track>(file, office, tool_node()).await;
    assert_err!(refused.map_err(reason), CommitError::Contract { .. });
    let settled = place.store.perform_again(tracked, office, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(done.state().result, "4711 is on its way");
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn reads() {
    let (file, ids) = child::given();
    let store = Store::sqlite(file).await.unwrap();
    let _kept = begin(&store, pending(&store, ids[0]).await).await.unwrap();
    child::say("reading");
    child::wait();
}

/// Its process was killed during the call.
#[tokio::test]
async fn what_a_killed_process_read_is_read_again() {
    let place = Place::new().await;
    let id = place.stored(read("a.txt")).await.id();
    let mut other = child::Other::start("effects::again::reads", &place.file(), &[id]);
    other.wait_for("reading");
    assert_eq!(interrupted(&place.store).await.len(), 0, "it is alive");
    other.kill();
    let found = interrupted(&place.store).await.pop().unwrap();
    assert_eq!(found.id(), id);
    let service = answers(receipt("42 lines"));
    let settled = place.store.perform_again::<Action>(found, service, tool_node()).await;
    assert!(matches!(settled, Ok(Settled::Completed(_))));
    assert_eq!(interrupted(&place.store).await.len(), 0);
    assert_eq!(place.worker_files().len(), 1, "that of this process");
}

/// Its lock file is gone: calling it again does no harm all the same.
#[tokio::test]
async fn an_idempotent_call_needs_no_proof() {
    let place = Place::new().await;
    let id = place.stored(read("a.txt")).await.id();
    let mut other = child::Other::start("effects::again::reads", &place.file(), &[id]);
    other.wait_for("reading");
    other.kill();
    std::fs::remove_file(&place.worker_files()[0]).unwrap();
    let found = interrupted(&place.store).await.pop().unwrap();
    let service = answers(receipt("42 lines"));
    let settled = place.store.perform_again::<Action>(found, service, tool_node()).await;
    assert!(matches!(settled, Ok(Settled::Completed(_))));
}
