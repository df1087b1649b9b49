//! An irreversible tool or call stays irreversible in its store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    contract::{
        Action, Call, Contract, Effect, Execution, NotDone, Settled, ToolSpec, execution::Status,
        service_fn,
    },
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{reasoning_node, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::store::{
    child::{self, Other},
    service::{Counting, receipt},
    support::{Place, applied, begin, not_applied, on_both, pending},
};

use Effect::{Idempotent, Irreversible};

on_both! {
    a_tool_does_not_become_less_risky,
    what_was_planned_before_does_not_start_after,
    what_runs_already_ends,
    a_contract_that_is_more_careful_than_its_tool_changes_no_tool,
    a_key_does_not_become_less_risky,
    a_tool_that_becomes_more_risky_is_accepted,
    one_batch_does_not_register_a_tool_twice,
    what_was_interrupted_does_not_run_again_after,
    a_retry_in_progress_stops,
}

/// A program in which the tool was idempotent began a call and ended. A newer one knows better, and has
/// done it.
async fn what_was_interrupted_does_not_run_again_after(place: Place) {
    let (old, permit) = place.begun(delete("a.txt", Idempotent)).await;
    let id = old.id();
    drop(permit);
    let _ = place.done(delete("a.txt", Irreversible)).await;
    let service = Arc::new(Counting::new(receipt("gone")));
    let again = place.store.perform_again::<Action>(old, Arc::clone(&service), tool_node()).await;
    let refused = again.unwrap_err();
    assert!(
        matches!(refused.reason(), CommitError::EffectLowered { id: of, .. } if *of == id),
        "{refused:?}"
    );
    assert_eq!(service.calls(), 0);
}

/// Also between two calls of one execution.
async fn a_retry_in_progress_stops(place: Place) {
    let pending = place.stored(delete("a.txt", Idempotent)).await;
    let (store, calls) = (place.store.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&calls);
    let service = service_fn(move |_call: &Call<Action>| {
        let (store, calls) = (store.clone(), Arc::clone(&counted));
        Box::pin(async move {
            calls.fetch_add(1, Ordering::SeqCst);
            let mut other = Execution::new(delete("a.txt", Irreversible));
            store.create(&mut other).await.unwrap();
            let (running, permit) = begin(&store, other).await.unwrap();
            let outcome = applied(permit, "gone").await;
            let _ = store.settle(running, outcome, tool_node()).await.unwrap();
            Err(NotDone::unknown("lost"))
        })
    });
    let delays = [Duration::from_millis(1); 3];
    let settled = place
        .store
        .perform_with_retries(pending, service, delays.into_iter(), tool_node())
        .await
        .unwrap();
    assert!(matches!(settled, Settled::Failed(_)), "{settled:?}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A call of `files.delete`, registered with this effect.
fn delete(path: &str, effect: Effect) -> Contract {
    let tool = ToolSpec::idempotent("files", "delete").unwrap().raise(effect);
    let arguments = serde_json::json!({ "path": path }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap()
}

fn assert_tool_lowered<T: std::fmt::Debug>(refused: &Result<T, CommitError>, of: Id) {
    assert_err!(refused, CommitError::EffectLowered { id, what }
        if *id == of && what == "the tool `files.delete`");
}

/// Another action of the same tool is enough, and it need not have run.
async fn a_tool_does_not_become_less_risky(place: Place) {
    let _ = place.stored(delete("a.txt", Irreversible)).await;
    let before = place.dump().await;
    let mut lowered = Execution::new(delete("b.txt", Idempotent));
    assert_tool_lowered(&place.store.create(&mut lowered).await, lowered.id());
    assert_eq!(place.dump().await, before);

    let place = place.reopened().await;
    assert_tool_lowered(&place.store.create(&mut lowered).await, lowered.id());
    let mut started = lowered.start(tool_node()).succeed("gone".to_owned(), tool_node());
    assert_tool_lowered(&place.store.create(&mut started).await, started.id());
    // Other tools, and the same tool as it is, are not concerned.
    let _ = place.done(read("b.txt")).await;
    let _ = place.done(delete("b.txt", Irreversible)).await;
}

/// With `begin` or without it.
async fn what_was_planned_before_does_not_start_after(place: Place) {
    let planned = place.stored(delete("a.txt", Idempotent)).await;
    let id = planned.id();
    let _ = place.stored(delete("b.txt", Irreversible)).await;
    let before = place.dump().await;
    assert_tool_lowered(&begin(&place.store, place.pending(id).await).await, id);
    assert_tool_lowered(&place.store.commit(&mut planned.start(tool_node())).await, id);
    assert_eq!(place.dump().await, before);
    // It can be ended.
    let cancelled = place.store.cancel(place.pending(id).await, "planned again", tool_node()).await;
    assert_eq!(cancelled.unwrap().id(), id);
    assert_eq!(place.status(id).await, Status::Cancelled);
}

async fn what_runs_already_ends(place: Place) {
    let (running, permit) = place.begun(delete("a.txt", Idempotent)).await;
    let _ = place.stored(delete("b.txt", Irreversible)).await;
    let outcome = applied(permit, "gone").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}

async fn a_contract_that_is_more_careful_than_its_tool_changes_no_tool(place: Place) {
    let _ = place.done(delete("a.txt", Idempotent).irreversible()).await;
    let _ = place.done(delete("b.txt", Idempotent)).await;
}

/// An action that ran or failed under a permit does not run without one.
async fn a_key_does_not_become_less_risky(place: Place) {
    for is_done in [true, false] {
        let path = format!("{is_done}.txt");
        let stored = place.stored(read(&path)).await;
        let id = stored.id();
        let (running, permit) = place.begun(read(&path).irreversible()).await;
        let refused = begin(&place.store, place.pending(id).await).await;
        assert_err!(refused, CommitError::EffectLowered { id: of, what }
            if *of == id && what == "this call of `files.read`");
        let outcome = if is_done {
            applied(permit, "42 lines").await
        } else {
            not_applied(permit, "no such file").await
        };
        let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
        let refused = begin(&place.store, place.pending(id).await).await;
        assert_err!(refused, CommitError::EffectLowered { .. });
        let refused = place.store.commit(&mut stored.start(tool_node())).await;
        assert_err!(refused, CommitError::EffectLowered { .. });
        assert_eq!(place.status(id).await, Status::Pending);
    }
    // Another file is another key.
    let _ = place.done(read("another.txt")).await;
}

async fn a_tool_that_becomes_more_risky_is_accepted(place: Place) {
    let _ = place.done(delete("a.txt", Idempotent)).await;
    let _ = place.done(delete("a.txt", Irreversible)).await;
}

/// In the order of the batch.
async fn one_batch_does_not_register_a_tool_twice(place: Place) {
    let mut careful = Execution::new(delete("a.txt", Irreversible));
    let mut careless = Execution::new(delete("b.txt", Idempotent));
    let before = place.dump().await;
    let refused = place.store.batch().create(&mut careful).create(&mut careless).write().await;
    assert_tool_lowered(&refused, careless.id());
    assert_eq!(place.dump().await, before);
    place.store.batch().create(&mut careless).create(&mut careful).write().await.unwrap();
    let id = careless.id();
    assert_tool_lowered(&begin(&place.store, careless).await, id);
}

/// Another program treats the tool as idempotent, reports the error, and ends.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn takes_it_for_idempotent() {
    let (file, ids) = child::given();
    let store = Store::sqlite(file).await.unwrap();
    let mut new = Execution::new(delete("c.txt", Idempotent));
    let new = store.create(&mut new).await.is_err_and(|error| is_lowered(&error));
    let old = begin(&store, pending(&store, ids[0]).await).await;
    let old = old.is_err_and(|error| is_lowered(&error));
    child::say(&format!("refused {new} {old}"));
}

fn is_lowered(error: &CommitError) -> bool {
    matches!(error, CommitError::EffectLowered { .. })
}

/// Two programs on one file do not agree: the more careful one counts, also for what the other one
/// planned before.
#[tokio::test]
async fn the_file_tells_other_programs() {
    let place = Place::new().await;
    let old = place.stored(delete("a.txt", Idempotent)).await.id();
    let _ = place.stored(delete("b.txt", Irreversible)).await;
    let name = "effects::effect::takes_it_for_idempotent";
    let mut other = Other::start(name, &place.file(), &[old]);
    assert_eq!(other.wait_for("refused"), "true true");
    other.join();
    let _ = place.done(mail("bob")).await;
    assert_eq!(place.status(old).await, Status::Pending);
}
