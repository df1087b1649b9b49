//! Calling an idempotent tool several times.

use std::{array::IntoIter, sync::Mutex};

use crate::effects::{
    prelude::*,
    tools::{Track, lookup},
};

on_file! {
    it_is_called_after_each_delay,
    an_irreversible_call_is_not_repeated,
    an_approval_covers_the_retries,
    a_call_that_does_not_start_is_not_made,
    between_two_calls_it_is_not_interrupted,
}

/// Short ones.
fn delays() -> IntoIter<Duration, 3> {
    [1, 2, 3].map(Duration::from_millis).into_iter()
}

/// A service that gives these answers, and then the last one again.
struct Answers(Mutex<Vec<Answer>>);

impl Answers {
    fn new(mut answers: Vec<Answer>) -> Arc<Self> {
        answers.reverse();
        Arc::new(Self(Mutex::new(answers)))
    }
}

impl Perform<Action> for Answers {
    async fn perform(&self, _call: &Call<Action>) -> ToolAnswer<Action> {
        let mut left = self.0.lock().unwrap();
        let answer = if left.len() > 1 { left.pop().unwrap() } else { left[0].clone() };
        answer.map_err(|it| it.map(Into::into))
    }
}

fn flaky() -> Arc<Answers> {
    Answers::new(vec![
        Err(NoReceipt::unknown("read timed out")),
        Err(NoReceipt::not_applied("connection refused")),
        receipt("42 lines"),
        receipt("the calls did not end"),
    ])
}

async fn repeated(
    place: &Place,
    planned: impl Into<Planned<Action>>,
    service: impl Perform<Action> + 'static,
) -> Result<Settled, PerformError<Action>> {
    place.store.perform_with_retries(planned, service, delays(), tool_node()).await
}

/// One call, and one after each of three delays; then it has failed, with the last error. A receipt
/// ends the calls.
async fn it_is_called_after_each_delay(place: Place) {
    let server = Arc::new(Counting::new(Err(NoReceipt::unknown("read timed out"))));
    let pending = place.stored(read("a.txt")).await;
    let settled = repeated(&place, pending, Arc::clone(&server)).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!((failed.state().error.as_str(), server.calls()), ("read timed out", 4));
    // It is one execution with one start and one end.
    let facts = place.facts(failed.id()).await;
    assert!(
        matches!(facts[..], [CallFact::Permitted { .. }, CallFact::Evidence { late: false, .. }]),
        "{facts:?}",
    );
    assert!(place.store.recover().await.unwrap().interrupted.is_empty());

    let worse = Answers::new(vec![
        Err(NoReceipt::not_applied("connection refused")),
        Err(NoReceipt::StillRunning("the first cache has it".to_owned())),
        Err(NoReceipt::not_applied("the disk burnt")),
    ]);
    let pending = place.stored(read("a.txt")).await;
    assert_is!(repeated(&place, pending, worse).await,
        Ok(Settled::Failed(failed)) if failed.state().error == "the disk burnt");

    let pending = place.stored(read("a.txt")).await;
    assert_is!(repeated(&place, pending, flaky()).await,
        Ok(Settled::Completed(done)) if done.state().result == "42 lines");
}

/// Where the type of the tool does not say so, the contract does.
async fn an_irreversible_call_is_not_repeated(place: Place) {
    let server = || Arc::new(Counting::new(Err(NoReceipt::unknown("read timed out"))));
    for contract in [mail("bob"), read("a.txt").irreversible()] {
        let server = server();
        let pending = place.stored(contract).await;
        let settled = repeated(&place, pending, Arc::clone(&server)).await;
        assert_is!(settled, Ok(Settled::InDoubt(_)));
        assert_eq!(server.calls(), 1);
    }
    let server = server();
    let mut hinted: Planned<Track> = Planned::new(lookup(4711).irreversible()).unwrap();
    place.store.batch().create(hinted.machine()).write().await.unwrap();
    let store = &place.store;
    let settled = store.perform_with_retries(hinted, Arc::clone(&server), delays(), tool_node());
    assert_is!(settled.await, Ok(Settled::InDoubt(_)));
    assert_eq!(server.calls(), 1);
}

async fn an_approval_covers_the_retries(place: Place) {
    let planned = place.approved(read("secret.txt")).await;
    assert_is!(repeated(&place, planned, flaky()).await, Ok(Settled::Completed(_)));
}

/// It comes back.
async fn a_call_that_does_not_start_is_not_made(place: Place) {
    let (_gate, planned) = place.asked(read("secret.txt")).await;
    let id = planned.id();
    let server = Arc::new(Counting::new(receipt("42 lines")));
    let refused = repeated(&place, planned, Arc::clone(&server)).await;
    let Err(PerformError::NotBegun { planned, source }) = refused else { panic!("{refused:?}") };
    assert_is!(source, EffectError::Deferred { .. });
    assert_eq!((planned.id(), server.calls()), (id, 0));
    assert_eq!(place.status(id).await, Status::Pending);
}

/// Its worker is busy with it until the last retry has ended.
async fn between_two_calls_it_is_not_interrupted(place: Place) {
    let found = Arc::new(Mutex::new(Vec::new()));
    let (store, seen) = (place.store.clone(), Arc::clone(&found));
    let service = service_fn(move |_: &Call<Action>| {
        let (store, seen) = (store.clone(), Arc::clone(&seen));
        Box::pin(async move {
            let found = store.recover().await?.interrupted.len();
            seen.lock().unwrap().push(found);
            Err(NoReceipt::unknown("read timed out"))
        })
    });
    let pending = place.stored(read("a.txt")).await;
    assert_is!(repeated(&place, pending, service).await, Ok(Settled::Failed(_)));
    assert_eq!(*found.lock().unwrap(), [0; 4]);
}
