//! Performing an execution from its start to its end.

use std::sync::Mutex;

use machine::contract::{Permit, Token, receipt as receipt_of};

use crate::effects::{
    prelude::*,
    tools::{Post, Tracking, letter},
};

on_file! {
    a_typed_tool_gets_its_arguments_and_gives_its_receipt,
    a_refused_begin_makes_no_call,
    a_call_says_what_it_is,
    a_permit_of_a_closed_store_calls_nothing,
}

/// The stored action is called, whatever the program has planned since.
async fn a_typed_tool_gets_its_arguments_and_gives_its_receipt(place: Place) {
    let mut letter = letter("bob");
    place.store.batch().create(letter.machine()).write().await.unwrap();
    let service = service_fn(|call: &Call<Post>| {
        let office = format!("office of {}", call.arguments.to);
        Box::pin(async { Ok(Applied::new(Tracking { number: 4711, office })) })
    });
    let settled = place.store.perform(letter, service, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    let tracking: Tracking = receipt_of(&done).unwrap();
    assert_eq!(tracking, Tracking { number: 4711, office: "office of bob".to_owned() });
    assert!(receipt_of::<u32>(&done).is_err());
    assert_eq!(place.status(done.id()).await, Status::Completed);
    place.assert_intact().await;
}

/// It comes back, with the reason.
async fn a_refused_begin_makes_no_call(place: Place) {
    let again = place.stored(mail("bob")).await;
    let id = again.id();
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let _ = place.performed(mail("bob"), Arc::clone(&server)).await;
    let refused = place.store.perform::<Action>(again, Arc::clone(&server), tool_node()).await;
    let Err(error) = refused else { panic!("it was done before") };
    let text = error.to_string();
    assert!(text.contains("plan it with an `occurrence` to repeat it on purpose"), "{text}");
    let PerformError::NotBegun { planned, source } = error else { panic!("{error:?}") };
    assert_is!(source, EffectError::Commit(CommitError::AlreadyDone { .. }));
    assert_eq!((planned.id(), planned.journal().uncommitted().len()), (id, 0));
    assert_eq!(server.calls(), 1);
}

/// The facts of a call that its service can read.
#[derive(Debug, PartialEq)]
struct Seen {
    id: Id,
    key: String,
    token: Token,
    expires_at: Option<i64>,
    timeout: Option<Duration>,
    to: String,
    still_valid: bool,
}

async fn a_call_says_what_it_is(place: Place) {
    let (place, _clock) = place.clocked().await;
    let tool = ToolSpec::irreversible("email", "send").unwrap().timeout(None);
    let unlimited = Contract::tool_call(&tool, r#"{"to":"eve"}"#, reasoning_node()).unwrap();
    let limit = Duration::from_secs(7);
    for (to, contract, limit) in
        [("bob", mail("bob").timeout_after(limit), Some(limit)), ("eve", unlimited, None)]
    {
        let seen = Arc::new(Mutex::new(None));
        let sees = Arc::clone(&seen);
        let service = service_fn(move |call: &Call<Action>| {
            let sees = Arc::clone(&sees);
            Box::pin(async move {
                let seen = Seen {
                    id: call.execution_id,
                    key: call.key.as_ref().unwrap().to_string(),
                    token: call.token,
                    expires_at: call.expires_at,
                    timeout: call.timeout,
                    to: call.arguments.detail()["args"]["to"].as_str().unwrap().to_owned(),
                    still_valid: call.still_valid().await,
                };
                *sees.lock().unwrap() = Some(seen);
                receipt("250 queued")
            })
        });
        let (running, permit) = place.begun(contract).await;
        let expected = Seen {
            id: running.id(),
            key: running.context().idempotency_key().unwrap().to_string(),
            token: permit.token(),
            expires_at: limit.map(|_| place.store.now() + 7_000),
            timeout: limit,
            to: to.to_owned(),
            still_valid: true,
        };
        let outcome = permit.call(service).await;
        assert_eq!(seen.lock().unwrap().take(), Some(expected));
        let _ = place.settled(running, outcome).await;
    }
}

/// Nothing can answer whether the permit is still valid.
async fn calls_nothing(permit: Permit<Action>) {
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let outcome = permit.call(Arc::clone(&server)).await;
    assert_eq!(server.calls(), 0);
    assert!(matches!(outcome.evidence(), Evidence::NotApplied(reason)
        if reason.message.contains("not started")));
}

async fn a_permit_of_a_closed_store_calls_nothing(place: Place) {
    let (_running, permit) = place.begun(mail("bob")).await;
    place.store.close().await.unwrap();
    calls_nothing(permit).await;
}

/// A permit does not keep its store open.
#[tokio::test]
async fn a_permit_of_a_dropped_store_calls_nothing() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let elsewhere = place.open_again().await;
    let (_running, permit) = begin(&elsewhere, pending(&elsewhere, id).await).await.unwrap();
    drop(elsewhere);
    calls_nothing(permit).await;
    assert_eq!(place.status(id).await, Status::Running);
}

/// It was called, and another process holds the file: the outcome comes back, and is settled later.
#[tokio::test]
async fn an_unsettled_outcome_is_not_lost() {
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(10));
    let place = Place::with(options).await;
    let pending = place.stored(mail("bob")).await;
    let id = pending.id();
    let raw = Arc::new(Mutex::new(place.raw()));
    let holder = Arc::clone(&raw);
    let service = service_fn(move |_call: &Call<Action>| {
        holder.lock().unwrap().execute_batch("BEGIN IMMEDIATE").unwrap();
        Box::pin(async { receipt("250 queued") })
    });
    let refused = place.store.perform(pending, service, tool_node()).await;
    let Err(PerformError::NotSettled { at_stake, source }) = refused else { panic!("{refused:?}") };
    assert_is!(source, EffectError::Unsettled { id: of, at_stake, .. }
        if *of == id && at_stake.contains("250 queued"));
    raw.lock().unwrap().execute_batch("ROLLBACK").unwrap();
    let (running, outcome) = *at_stake;
    let settled = place.settled(running, outcome).await;
    assert_is!(settled, Settled::Completed(_));
}
