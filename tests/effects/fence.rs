//! Shutting a worker out on request, and only then while it is alive and in time.

use std::sync::Mutex;

use machine::{contract::Token, journal::Entry};

use crate::effects::prelude::*;

on_file! {
    a_fence_parks_what_runs,
    only_what_runs_is_fenced,
    a_call_can_ask_whether_it_was_fenced,
    a_fence_and_an_answer_at_once_lose_nothing,
    a_permit_keeps_its_worker_alive,
    a_token_rises_from_attempt_to_attempt,
    the_permits_of_a_batch_have_tokens_that_rise,
}

/// The epoch rises, and the journal says who did it and why.
async fn a_fence_parks_what_runs(place: Place) {
    let (running, _permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let doubt = place.store.fence(id, "wrong address", graph_runner()).await.unwrap();
    assert_eq!(doubt.journal().epoch(), 1);
    assert!(doubt.question().contains("wrong address"), "{}", doubt.question());
    assert_eq!(place.status(id).await, Status::Waiting);
    let entries = place.entries(id).await;
    let is_fence = |entry: &&Entry| matches!(entry.fact, Fact::Fenced { .. });
    let fenced = entries.iter().find(is_fence).unwrap();
    assert_is!(&fenced.fact, Fact::Fenced { epoch: 1, reason } if reason == "wrong address");
    let by = (fenced.actor.as_deref(), fenced.by.as_deref());
    assert_eq!(by, (Some("graph_runner"), Some("test")));
    assert_eq!(place.parked(id).await, Liveness::Alive);
    let _ = place.doubt().await;
}

/// Anything else has no worker that could be fenced.
async fn only_what_runs_is_fenced(place: Place) {
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    let (reading, _permit) = place.begun(read("a.txt")).await;
    for (id, state) in [
        (place.stored(mail("ann")).await.id(), "PENDING"),
        (place.done(mail("carl")).await.id(), "COMPLETED"),
        (place.doubtful(mail("dora")).await.id(), "WAITING"),
        (question.id(), "WAITING"),
        (reading.id(), "RUNNING"),
    ] {
        let before = place.dump();
        let refused = place.store.fence(id, "no", graph_runner()).await;
        assert_err!(refused, StateError::NotRunning { id: of, found }
            if *of == id && found == state);
        assert_eq!(place.dump(), before);
    }
    let unknown: Id = "00000000-0000-7000-8000-000000000000".parse().unwrap();
    let refused = place.store.fence(unknown, "no", graph_runner()).await;
    assert_err!(refused, StateError::Load(LoadError::NotFound { id }) if *id == unknown);
}

/// Right before the step that cannot be undone, and after it.
async fn a_call_can_ask_whether_it_was_fenced(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (store, said) = (place.store.clone(), Arc::clone(&asked));
    let service = service_fn(move |call: &Call<Action>| {
        let (store, said) = (store.clone(), Arc::clone(&said));
        Box::pin(async move {
            let before = call.still_valid().await;
            let _ = store.fence(call.execution_id, "wrong address", graph_runner()).await?;
            let after = call.still_valid().await;
            said.lock().unwrap().extend([before, after]);
            receipt("it went on all the same")
        })
    });
    let outcome = permit.call(service).await;
    assert_eq!(*asked.lock().unwrap(), [true, false]);
    assert_is!(outcome.evidence(), Evidence::Applied(_));
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: EffectError::Fenced { .. }, .. });
}

/// One of them is first: either it is COMPLETED at once, or through its late receipt.
async fn a_fence_and_an_answer_at_once_lose_nothing(place: Place) {
    for round in 0..20 {
        let to = format!("person {round}");
        let (running, permit) = place.begun(mail(&to)).await;
        let id = running.id();
        let outcome = applied(permit, "250 queued").await;
        let store = place.open_again().await;
        let fence =
            tokio::spawn(
                async move { store.fence(id, "no answer", graph_runner()).await.map(drop) },
            );
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        let settled = place.store.settle(running, outcome, tool_node()).await;
        match fence.await.unwrap() {
            Ok(()) => {
                assert_err!(settled, Refused { reason: EffectError::Fenced { .. }, .. });
                place.is_completed_late(id, "250 queued").await;
            }
            Err(StateError::NotRunning { .. }) => assert_is!(settled, Ok(Settled::Completed(_))),
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(place.status(id).await, Status::Completed);
        place.is_done(mail(&to), id).await;
    }
}

/// A permit that outlives its store still counts as alive: its call may be in flight.
async fn a_permit_keeps_its_worker_alive(place: Place) {
    let elsewhere = place.open_again().await;
    let pending = pending(&elsewhere, place.stored(mail("bob")).await.id()).await;
    let (_running, permit) = begin(&elsewhere, pending).await.unwrap();
    drop(elsewhere);
    assert_eq!(place.recovered().await.len(), 0, "a live worker was taken over");
    drop(permit);
    let _ = place.doubt().await;
}

async fn token(place: &Place, contract: Contract) -> Token {
    let (running, permit) = place.begun(contract).await;
    let token = permit.token();
    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.settled(running, outcome).await;
    token
}

/// A service can refuse an old one.
fn rise(tokens: &[Token]) {
    for pair in tokens.windows(2) {
        assert!(pair[0] < pair[1], "{tokens:?}");
        // A service may compare them as text.
        assert!(pair[0].to_string() < pair[1].to_string(), "{tokens:?}");
    }
}

/// Begin, fail, retry, begin: also across keys, and across reopening.
async fn a_token_rises_from_attempt_to_attempt(mut place: Place) {
    let mut tokens = Vec::new();
    for round in 0..12 {
        tokens.push(token(&place, mail("bob")).await);
        if round % 3 == 0 {
            tokens.push(token(&place, mail("ann")).await);
        }
        if round % 4 == 1 {
            place = place.reopened().await;
        }
    }
    // One that was in doubt is an attempt too.
    let (_running, permit) = place.begun(mail("bob")).await;
    tokens.push(permit.token());
    drop(permit);
    let _ = place.deny(place.doubt().await).await;
    tokens.push(token(&place, mail("bob")).await);
    // And one whose call continues.
    let (running, permit) = place.begun(mail("bob")).await;
    tokens.push(permit.token());
    let _ = place.overrule(place.fenced(running.id()).await).await;
    tokens.push(token(&place, mail("bob")).await);
    rise(&tokens);
}

async fn the_permits_of_a_batch_have_tokens_that_rise(place: Place) {
    let mut begins = Vec::new();
    for to in ["ann", "bob", "carl", "dora"] {
        begins.push(begin_of(place.stored(mail(to)).await));
    }
    let batch = begins.iter_mut().fold(place.store.batch(), Batch::change);
    batch.write().await.unwrap();
    let begun: Vec<_> = begins.into_iter().filter_map(|begin| begin.finish().ok()).collect();
    let tokens: Vec<_> = begun.iter().map(|(_, permit)| permit.token()).collect();
    rise(&tokens);
    assert_eq!(begun.len(), 4);
    for (running, permit) in begun {
        assert_eq!(permit.attempt().execution_id, running.id());
    }
}
