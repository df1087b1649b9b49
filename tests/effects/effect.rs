//! An irreversible tool or call stays irreversible in its store.

use std::sync::atomic::{AtomicUsize, Ordering};

use machine::contract::Effect::{self, Idempotent, Irreversible};

use crate::effects::prelude::*;

on_file! {
    a_tool_does_not_become_less_risky,
    an_earlier_plan_does_not_start_once_irreversible,
    a_running_call_ends_once_irreversible,
    a_more_careful_contract_or_tool_is_accepted,
    a_key_does_not_become_less_risky,
    one_batch_does_not_register_a_tool_twice,
    an_interrupted_call_does_not_run_again_once_irreversible,
    a_retry_in_progress_stops,
}

/// A call of `files.delete`, registered with this effect.
fn delete(path: &str, effect: Effect) -> Contract {
    let tool = ToolSpec::idempotent("files", "delete").unwrap().raise(effect);
    let arguments = serde_json::json!({ "path": path }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap()
}

fn assert_tool_lowered(refused: &EffectError, of: Id) {
    assert_is!(refused, EffectError::EffectLowered { id, what }
        if *id == of && what == "the tool `files.delete`");
}

/// A program in which the tool was idempotent began a call and ended. A newer one knows better, and
/// has done it.
async fn an_interrupted_call_does_not_run_again_once_irreversible(place: Place) {
    let (old, permit) = place.begun(delete("a.txt", Idempotent)).await;
    let id = old.id();
    drop(permit);
    let _ = place.done(delete("a.txt", Irreversible)).await;
    let service = Arc::new(Counting::new(receipt("gone")));
    let again = place.store.perform_again::<Action>(old, Arc::clone(&service), tool_node()).await;
    assert_err!(again, PerformError::NotResumed { source: EffectError::EffectLowered { id: of, .. } }
        if *of == id);
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
            let gone = answers(receipt("gone"));
            let _ = store.perform::<Action>(other, gone, tool_node()).await.unwrap();
            Err(NoReceipt::unknown("lost"))
        })
    });
    let delays = [Duration::from_millis(1); 3].into_iter();
    let settled = place.store.perform_with_retries(pending, service, delays, tool_node()).await;
    assert_is!(settled, Ok(Settled::Failed(_)));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// Another action of the same tool is enough, and it need not have run.
async fn a_tool_does_not_become_less_risky(place: Place) {
    let _ = place.stored(delete("a.txt", Irreversible)).await;
    let mut lowered = Execution::new(delete("b.txt", Idempotent));
    let id = lowered.id();
    assert_tool_lowered(&place.refuses_machine(&mut lowered).await, id);
    let place = place.reopened().await;
    assert_tool_lowered(&place.refuses_machine(&mut lowered).await, id);
    let mut started = lowered.start(tool_node()).succeed("gone".to_owned(), tool_node());
    assert_tool_lowered(&place.refuses_machine(&mut started).await, id);
    // Other tools, and the same tool as it is, are not concerned.
    let _ = place.done(read("b.txt")).await;
    let _ = place.done(delete("b.txt", Irreversible)).await;
}

/// With `begin` or without it. Two programs on one file do not agree: the more careful one counts,
/// also for what the other one planned before.
async fn an_earlier_plan_does_not_start_once_irreversible(place: Place) {
    let planned = place.stored(delete("a.txt", Idempotent)).await;
    let id = planned.id();
    let careful = place.open_again().await;
    careful.create(&mut Execution::new(delete("b.txt", Irreversible))).await.unwrap();
    let refused = place.refuses_new(delete("c.txt", Idempotent)).await;
    assert_is!(refused, EffectError::EffectLowered { .. });
    assert_tool_lowered(&place.refuses(place.pending(id).await).await, id);
    assert_tool_lowered(&place.refuses_machine(&mut planned.start(tool_node())).await, id);
    // It can be ended.
    let cancelled = place.store.cancel(place.pending(id).await, "planned again", tool_node()).await;
    assert_eq!(cancelled.unwrap().id(), id);
    assert_eq!(place.status(id).await, Status::Cancelled);
}

async fn a_running_call_ends_once_irreversible(place: Place) {
    let (running, permit) = place.begun(delete("a.txt", Idempotent)).await;
    let _ = place.stored(delete("b.txt", Irreversible)).await;
    let outcome = applied(permit, "gone").await;
    let settled = place.settled(running, outcome).await;
    assert_is!(settled, Settled::Completed(_));
}

/// A contract that is more careful than its tool changes no tool.
async fn a_more_careful_contract_or_tool_is_accepted(place: Place) {
    let _ = place.done(delete("a.txt", Idempotent).irreversible()).await;
    let _ = place.done(delete("b.txt", Idempotent)).await;
    let _ = place.done(delete("b.txt", Irreversible)).await;
}

/// An action that ran or failed under a permit does not run without one.
async fn a_key_does_not_become_less_risky(place: Place) {
    for is_done in [true, false] {
        let path = format!("{is_done}.txt");
        let stored = place.stored(read(&path)).await;
        let id = stored.id();
        let (running, permit) = place.begun(read(&path).irreversible()).await;
        assert_is!(place.refuses(place.pending(id).await).await,
            EffectError::EffectLowered { id: of, what }
            if *of == id && what == "this call of `files.read`");
        let outcome = if is_done {
            applied(permit, "42 lines").await
        } else {
            not_applied(permit, "no such file").await
        };
        let _ = place.settled(running, outcome).await;
        assert_is!(place.refuses(place.pending(id).await).await, EffectError::EffectLowered { .. });
        let refused = place.refuses_machine(&mut stored.start(tool_node())).await;
        assert_is!(refused, EffectError::EffectLowered { .. });
        assert_eq!(place.status(id).await, Status::Pending);
    }
    // Another file is another key.
    let _ = place.done(read("another.txt")).await;
}

/// In the order of the batch.
async fn one_batch_does_not_register_a_tool_twice(place: Place) {
    let mut careful = Execution::new(delete("a.txt", Irreversible));
    let mut careless = Execution::new(delete("b.txt", Idempotent));
    let before = place.dump();
    let refused = place.store.batch().create(&mut careful).create(&mut careless).write().await;
    assert_tool_lowered(&refused.unwrap_err(), careless.id());
    assert_eq!(place.dump(), before);
    place.store.batch().create(&mut careless).create(&mut careful).write().await.unwrap();
    let id = careless.id();
    assert_tool_lowered(&place.refuses(careless).await, id);
}
