//! Performing an execution from its start to its end.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{
    Id,
    contract::{
        Action, Answer, AnyExecution, Applied, Call, CallFact, Contract, Evidence, NotDone,
        Perform, Settled, Token, ToolSpec, execution::Status, receipt as receipt_of, service_fn,
    },
    effects::PerformError,
    store::{CommitError, OpenOptions},
};
use machine_tests::{
    actors::{reasoning_node, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::effects::tools::{Post, Tracking, letter};
use crate::store::{
    service::{Counting, answers, receipt},
    support::{Place, on_both, pending},
};

on_both! {
    a_typed_tool_gets_its_arguments_and_gives_its_receipt,
    an_idempotent_call_is_performed_too,
    what_is_not_begun_is_not_called,
    a_call_says_what_it_is,
    a_receipt_that_is_dropped_is_kept,
    a_huge_answer_is_cut,
    a_receipt_that_cannot_be_written_is_a_receipt,
    a_permit_of_a_closed_store_calls_nothing,
}

/// An office that has its own numbers.
struct Office {
    next: u32,
}

impl Perform<Post> for Office {
    async fn perform(&self, call: &Call<Post>) -> Answer<Tracking> {
        let office = format!("office of {}", call.arguments().to);
        Ok(Applied::new(Tracking { number: self.next, office }))
    }
}

/// The stored action is called, whatever the program planned since.
async fn a_typed_tool_gets_its_arguments_and_gives_its_receipt(place: Place) {
    let mut letter = letter("bob");
    place.store.batch().create(letter.machine()).write().await.unwrap();
    let settled = place.store.perform(letter, Office { next: 4711 }, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    let tracking: Tracking = receipt_of(&done).unwrap();
    assert_eq!(tracking, Tracking { number: 4711, office: "office of bob".to_owned() });
    assert!(receipt_of::<u32>(&done).is_err());
    assert_eq!(place.status(done.id()).await, Status::Completed);
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

async fn an_idempotent_call_is_performed_too(place: Place) {
    let pending = place.stored(read("a.txt")).await;
    let service = answers(receipt("42 lines"));
    let settled = place.store.perform::<Action>(pending, service, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(receipt_of::<String>(&done).unwrap(), "42 lines");
    let facts = place.facts(done.id()).await;
    assert!(matches!(facts[..], [CallFact::Permitted { .. }, CallFact::Evidence { .. }]));
}

/// It comes back, with the reason.
async fn what_is_not_begun_is_not_called(place: Place) {
    let done = place.stored(mail("bob")).await;
    let again = place.stored(mail("bob")).await;
    let id = again.id();
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let store = &place.store;
    let _ = store.perform::<Action>(done, Arc::clone(&server), tool_node()).await.unwrap();
    let refused = store.perform::<Action>(again, Arc::clone(&server), tool_node()).await;
    let Err(error) = refused else { panic!("it was done before") };
    assert_err!(Err::<(), _>(error.reason()), CommitError::AlreadyDone { .. });
    let text = error.to_string();
    assert!(
        text.contains("plan the action with an `occurrence` to do it again on purpose"),
        "{text}"
    );
    let PerformError::NotBegun { planned, .. } = error else { panic!("{error:?}") };
    assert_eq!((planned.id(), planned.execution().journal().uncommitted().len()), (id, 0));
    assert_eq!(server.calls(), 1);
}

/// The facts of a call that its service can read.
#[derive(Debug, Default, Clone)]
struct Curious(Arc<Mutex<Option<Seen>>>);

#[derive(Debug, Clone)]
struct Seen {
    id: Id,
    key: String,
    token: Token,
    expires_at: Option<i64>,
    timeout: Option<Duration>,
    to: String,
    still_valid: bool,
}

impl Perform<Action> for Curious {
    async fn perform(&self, call: &Call<Action>) -> Answer {
        let seen = Seen {
            id: call.execution_id(),
            key: call.key().unwrap().to_string(),
            token: call.token(),
            expires_at: call.expires_at(),
            timeout: call.timeout(),
            to: call.arguments().detail()["args"]["to"].as_str().unwrap().to_owned(),
            still_valid: call.still_valid().await,
        };
        *self.0.lock().unwrap() = Some(seen);
        receipt("250 queued")
    }
}

async fn a_call_says_what_it_is(place: Place) {
    let (place, _clock) = place.clocked().await;
    for (to, limit) in [("bob", Some(Duration::from_secs(7))), ("eve", None)] {
        let service = Curious::default();
        let contract = match limit {
            Some(limit) => mail(to).timeout_after(limit),
            None => unlimited(to),
        };
        let (running, permit) = place.begun(contract).await;
        let (id, token) = (running.id(), permit.token());
        let key = running.context().idempotency_key().unwrap().to_string();
        let outcome = permit.call(service.clone()).await;
        let seen = service.0.lock().unwrap().clone().unwrap();
        assert_eq!((seen.id, seen.key, seen.token), (id, key, token));
        assert_eq!((seen.to.as_str(), seen.still_valid), (to, true));
        assert_eq!(seen.timeout, limit);
        let expires_at = limit.map(|_| place.store.now() + 7_000);
        assert_eq!(seen.expires_at, expires_at);
        let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    }
}

/// A program that drops an outcome does not lose the receipt in it.
async fn a_receipt_that_is_dropped_is_kept(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit.call(answers(receipt("250 queued"))).await);
    // It is written in the background.
    while !place.facts(running.id()).await.iter().any(|fact| {
        matches!(fact, CallFact::Evidence { evidence: Evidence::Applied(_), late: true, .. })
    }) {
        tokio::task::yield_now().await;
    }
    let settled = place.store.recover().await.unwrap().settled;
    let [AnyExecution::Completed(done)] = &settled[..] else { panic!("{settled:?}") };
    assert_eq!(done.state().result, "250 queued");
}

/// A mail without a time limit.
fn unlimited(to: &str) -> Contract {
    let tool = ToolSpec::irreversible("email", "send").unwrap().timeout(None);
    let arguments = serde_json::json!({ "to": to }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap()
}

/// A receipt, a refusal and an error of a megabyte; no character is cut in half.
async fn a_huge_answer_is_cut(place: Place) {
    let huge = || "ä".repeat(500_001);
    for (number, answer) in
        [Ok(Applied::new(huge())), Err(NotDone::not_applied(huge())), Err(NotDone::unknown(huge()))]
            .into_iter()
            .enumerate()
    {
        let (running, permit) = place.begun(mail(&format!("person {number}"))).await;
        let outcome = permit.call(answers(answer)).await;
        let (Evidence::Applied(text) | Evidence::NotApplied(text) | Evidence::Unknown(text)) =
            outcome.evidence();
        assert!(text.len() < 70_000 && text.starts_with("ää"), "{} bytes", text.len());
        assert!(text.ends_with("(cut from 1000002 bytes)"));
        let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
        match (number, settled) {
            (0, Settled::Completed(_)) | (1, Settled::Failed(_)) | (2, Settled::InDoubt(_)) => {}
            (_, other) => panic!("{other:?}"),
        }
    }
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// A receipt that JSON cannot hold, and one whose `Serialize` panics, prove the effect all the same.
async fn a_receipt_that_cannot_be_written_is_a_receipt(place: Place) {
    use std::collections::BTreeMap;

    use machine::contract::{Irreversible, Planned, Tool};
    use serde::{Deserialize, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Odd {
        panics: bool,
    }

    #[derive(Deserialize)]
    struct OddReceipt {
        panics: bool,
    }

    impl Serialize for OddReceipt {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            assert!(!self.panics, "a bug in the receipt");
            BTreeMap::from([((1, 2), 3)]).serialize(serializer)
        }
    }

    impl Tool for Odd {
        const SERVICE: &'static str = "odd";
        const METHOD: &'static str = "do";
        type Effect = Irreversible;
        type Receipt = OddReceipt;
    }

    for panics in [false, true] {
        let contract = Contract::of(&Odd { panics }, reasoning_node());
        let mut planned: Planned<Odd> = Planned::new(contract.unwrap()).unwrap();
        place.store.batch().create(planned.machine()).write().await.unwrap();
        let service = service_fn(|call: &Call<Odd>| {
            let panics = call.arguments().panics;
            Box::pin(async move { Ok(Applied::new(OddReceipt { panics })) })
        });
        let settled = place.store.perform(planned, service, tool_node()).await.unwrap();
        let Settled::Completed(done) = settled else { panic!("{settled:?}") };
        assert!(done.state().result.starts_with("a receipt "), "{}", done.state().result);
        assert!(receipt_of::<OddReceipt>(&done).is_err());
    }
}

/// A closed store cannot answer whether the permit is still valid.
async fn a_permit_of_a_closed_store_calls_nothing(place: Place) {
    let (_running, permit) = place.begun(mail("bob")).await;
    place.store.close().await.unwrap();
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let outcome = permit.call(Arc::clone(&server)).await;
    assert_eq!(server.calls(), 0);
    assert!(matches!(outcome.evidence(), Evidence::NotApplied(reason)
        if reason.contains("was not started")));
}

/// A store that was dropped: a permit does not keep it open.
#[tokio::test]
async fn a_permit_of_a_dropped_store_calls_nothing() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let elsewhere = place.open_again().await;
    let found = pending(&elsewhere, id).await;
    let (_running, permit) = elsewhere.begin(found, tool_node()).await.unwrap();
    drop(elsewhere);
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let outcome = permit.call(Arc::clone(&server)).await;
    assert_eq!(server.calls(), 0);
    assert!(matches!(outcome.evidence(), Evidence::NotApplied(_)));
    assert_eq!(place.status(id).await, Status::Running);
}

/// It was called, and another process holds the file: the outcome comes back, and is settled later.
#[tokio::test]
async fn what_is_not_settled_is_not_lost() {
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(10));
    let place = Place::with(options).await;
    let pending = place.stored(mail("bob")).await;
    let id = pending.id();
    let holder = Mutex::new(Some(place.raw()));
    let held = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&held);
    let service = service_fn(move |_call: &Call<Action>| {
        let raw = holder.lock().unwrap().take().unwrap();
        raw.execute_batch("BEGIN IMMEDIATE").unwrap();
        *kept.lock().unwrap() = Some(raw);
        Box::pin(async { receipt("250 queued") })
    });
    let refused = place.store.perform(pending, service, tool_node()).await;
    let Err(PerformError::NotSettled { at_stake, source }) = refused else { panic!("{refused:?}") };
    assert_err!(Err::<(), _>(source), CommitError::Unsettled { id: of, at_stake, .. }
        if *of == id && at_stake.contains("250 queued"));
    held.lock().unwrap().take().unwrap().execute_batch("ROLLBACK").unwrap();
    let (running, outcome) = *at_stake;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}
