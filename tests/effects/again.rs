//! Idempotent calls that were interrupted run again.

use crate::{
    effects::{
        prelude::*,
        tools::{Track, lookup},
    },
    store::child,
};

on_file! {
    an_interrupted_call_runs_again,
    a_running_call_is_not_interrupted,
    an_overdue_call_may_run_again,
    one_of_two_takes_it_over,
    an_interrupted_worker_that_comes_back_changes_nothing,
    only_what_was_interrupted_runs_again,
    a_typed_tool_runs_again,
}

/// The interrupted executions that `recover` finds; it must find nothing else.
async fn interrupted(store: &Store) -> Vec<Execution<Running>> {
    let recovered = store.recover().await.unwrap();
    assert_eq!((recovered.in_doubt.len(), recovered.settled.len()), (0, 0));
    assert_eq!(recovered.failed.len(), 0, "{:?}", recovered.failed);
    recovered.interrupted
}

/// An execution whose worker has ended.
async fn dropped(place: &Place, contract: Contract) -> Execution<Running> {
    place.begun(contract).await.0
}

async fn running(place: &Place, id: Id) -> Execution<Running> {
    match place.store.load::<AnyExecution>(id).await.unwrap() {
        AnyExecution::Running(running) => running,
        other => panic!("expected RUNNING, found {other:?}"),
    }
}

/// The result of calling it again.
async fn again(
    place: &Place,
    running: Execution<Running>,
    service: impl Perform<Action> + 'static,
) -> Result<Settled, EffectError> {
    let settled = place.store.perform_again::<Action>(running, service, tool_node()).await;
    settled.map_err(reason)
}

fn reason<T: Callable>(error: PerformError<T>) -> EffectError {
    match error {
        PerformError::NotBegun { source, .. }
        | PerformError::NotSettled { source, .. }
        | PerformError::NotResumed { source, .. } => source,
        other => panic!("{other:?}"),
    }
}

fn lines() -> impl Perform<Action> + 'static {
    answers(receipt("42 lines"))
}

/// The old worker is fenced first. The execution is not in doubt, so it can be loaded by its id.
async fn an_interrupted_call_runs_again(place: Place) {
    let old = dropped(&place, read("a.txt")).await;
    let before = place.dump();
    let mut found = interrupted(&place.store).await;
    assert_eq!(place.dump(), before, "finding it changes nothing");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id(), old.id());
    assert_err!(place.store.in_doubt(old.id()).await, StateError::NotInDoubt { .. });
    let _ = place.store.resume::<Running>(old.id()).await.unwrap();
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let settled = again(&place, found.remove(0), Arc::clone(&server)).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!((done.state().result.as_str(), server.calls()), ("42 lines", 1));
    assert_eq!(done.journal().epoch(), 1);
    let entries = place.entries(done.id()).await;
    assert!(entries.iter().any(|entry| matches!(entry.fact, Fact::Fenced { epoch: 1, .. })));
    let permits = place.facts(done.id()).await;
    let permits = permits.iter().filter(|fact| matches!(fact, CallFact::Permitted { .. }));
    assert_eq!(permits.count(), 2);
    assert_eq!(interrupted(&place.store).await.len(), 0);
    place.assert_intact().await;

    // It may fail.
    let old = dropped(&place, read("a.txt")).await;
    assert_is!(again(&place, old, answers(Err(NoReceipt::unknown("read timed out")))).await,
        Ok(Settled::Failed(failed)) if failed.state().error == "read timed out");
    assert_eq!(interrupted(&place.store).await.len(), 0);
}

/// Neither for this process nor for another one.
async fn a_running_call_is_not_interrupted(place: Place) {
    let (old, permit) = place.begun(read("a.txt")).await;
    let call = in_flight(permit).await;
    assert_eq!(interrupted(&place.store).await.len(), 0);
    assert_eq!(interrupted(&place.open_again().await).await.len(), 0);
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let refused = again(&place, running(&place, old.id()).await, Arc::clone(&server)).await;
    assert_err!(refused, EffectError::NotInterrupted { id } if *id == old.id());
    assert_eq!(server.calls(), 0);
    let outcome = call.answer(receipt("42 lines")).await;
    let _ = place.store.settle(old, outcome, tool_node()).await.unwrap();
}

/// A worker may be frozen in an idempotent call: after its timeout another one may call, too.
async fn an_overdue_call_may_run_again(place: Place) {
    let (place, clock) = place.clocked().await;
    let (old, permit) = place.begun(read("a.txt")).await;
    let call = in_flight(permit).await;
    assert_eq!(interrupted(&place.store).await.len(), 0);
    clock.advance(30_001);
    let found = interrupted(&place.store).await.pop().unwrap();
    assert_is!(again(&place, found, lines()).await, Ok(Settled::Completed(_)));
    place.settles_late(old, call, receipt("41 lines")).await;
    place.assert_intact().await;
}

async fn one_of_two_takes_it_over(place: Place) {
    let id = dropped(&place, read("a.txt")).await.id();
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let (mine, theirs) = (running(&place, id).await, running(&place, id).await);
    let other = place.open_again().await;
    let (one, two) = tokio::join!(
        place.store.perform_again::<Action>(mine, Arc::clone(&server), tool_node()),
        other.perform_again::<Action>(theirs, Arc::clone(&server), tool_node()),
    );
    let ended = [one.is_ok(), two.is_ok()].into_iter().filter(|ok| *ok).count();
    assert_eq!((ended, server.calls()), (1, 1));
    for refused in [one, two].into_iter().filter_map(Result::err) {
        assert_is!(
            reason(refused),
            EffectError::Commit(CommitError::Conflict { .. }) | EffectError::NotInterrupted { .. }
        );
    }
    assert_eq!(place.status(id).await, Status::Completed);
}

async fn an_interrupted_worker_that_comes_back_changes_nothing(place: Place) {
    let old = dropped(&place, read("a.txt")).await;
    let id = old.id();
    let _ = again(&place, running(&place, id).await, lines()).await.unwrap();
    let mut stale = old.succeed("41 lines".to_owned(), tool_node());
    assert_err!(place.store.commit(&mut stale).await, EffectError::Commit(CommitError::Conflict { id: of }) if *of == id);
    let loaded = place.store.load::<AnyExecution>(id).await.unwrap();
    assert_is!(loaded, AnyExecution::Completed(done) if done.state().result == "42 lines");
}

/// Not what is irreversible, and not what its program started without `begin`.
async fn only_what_was_interrupted_runs_again(place: Place) {
    let (irreversible, permit) = place.begun(mail("bob")).await;
    let mut plain = place.stored(read("a.txt")).await.start(tool_node());
    place.store.commit(&mut plain).await.unwrap();
    let (hinted, hinted_permit) = place.begun(read("b.txt").irreversible()).await;
    let server = Arc::new(Counting::new(receipt("42 lines")));
    for id in [irreversible.id(), plain.id(), hinted.id()] {
        let refused = again(&place, running(&place, id).await, Arc::clone(&server)).await;
        assert_err!(refused, EffectError::NotInterrupted { id: of } if *of == id);
        assert_eq!(place.status(id).await, Status::Running);
    }
    assert_eq!(server.calls(), 0);
    drop((permit, hinted_permit));
    let recovered = place.store.recover().await.unwrap();
    assert_eq!((recovered.in_doubt.len(), recovered.interrupted.len()), (2, 0));
}

/// Its service gets the stored arguments; a service of another tool is refused.
async fn a_typed_tool_runs_again(place: Place) {
    let tracked = dropped(&place, lookup(4711)).await;
    let file = dropped(&place, read("a.txt")).await;
    let office = service_fn(|call: &Call<Track>| {
        let number = call.arguments.number;
        Box::pin(async move { receipt(&format!("{number} is on its way")) })
    });
    let refused = place.store.perform_again::<Track>(file, office, tool_node()).await;
    assert_err!(refused.map_err(reason), EffectError::Contract { .. });
    let settled = place.store.perform_again(tracked, office, tool_node()).await.unwrap();
    assert_is!(settled, Settled::Completed(done) if done.state().result == "4711 is on its way");
}

/// Its process was killed during the call. Calling it again does no harm even if its lock file is
/// gone.
#[tokio::test]
async fn a_call_of_a_killed_process_runs_again() {
    for is_proven in [true, false] {
        let place = Place::new().await;
        let id = place.stored(read("a.txt")).await.id();
        let other = child::begins_elsewhere(&place.file(), id);
        assert_eq!(interrupted(&place.store).await.len(), 0, "it is alive");
        other.kill();
        if !is_proven {
            std::fs::remove_file(&place.worker_files()[0]).unwrap();
        }
        let found = interrupted(&place.store).await.pop().unwrap();
        assert_eq!(found.id(), id);
        assert_is!(again(&place, found, lines()).await, Ok(Settled::Completed(_)));
        assert_eq!(interrupted(&place.store).await.len(), 0);
        assert_eq!(place.worker_files().len(), 1, "that of this process");
    }
}
