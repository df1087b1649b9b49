//! Calling an idempotent tool several times (OR-4).

use std::{
    array::IntoIter,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    contract::{
        Action, Answer, Call, CallFact, NotDone, Perform, Planned, Settled, execution::Status,
    },
    effects::PerformError,
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::{mail, read},
};

use crate::effects::tools::{Track, lookup};
use crate::store::{
    service::{Counting, receipt},
    support::{Place, on_both},
};

on_both! {
    it_is_called_after_each_delay,
    it_is_called_until_there_is_a_receipt,
    the_last_answer_counts,
    an_irreversible_call_is_not_repeated,
    an_approval_covers_the_retries,
    what_does_not_start_is_not_called,
    between_two_calls_it_is_not_interrupted,
}

/// The delays of `ReadBackoff`, but short.
fn delays() -> IntoIter<Duration, 3> {
    [1, 2, 3].map(Duration::from_millis).into_iter()
}

/// A service that answers from its third call on.
#[derive(Default)]
struct Flaky {
    calls: AtomicUsize,
}

impl Perform<Action> for Flaky {
    async fn perform(&self, _call: &Call<Action>) -> Answer {
        match self.calls.fetch_add(1, Ordering::SeqCst) {
            0 => Err(NotDone::unknown("read timed out")),
            1 => Err(NotDone::not_applied("connection refused")),
            _ => receipt("42 lines"),
        }
    }
}

/// One call, and one after each of three delays; then it has failed, with the last error.
async fn it_is_called_after_each_delay(place: Place) {
    let server = Arc::new(Counting::new(Err(NotDone::unknown("read timed out"))));
    let pending = place.stored(read("a.txt")).await;
    let settled = place
        .store
        .perform_with_retries::<Action>(pending, Arc::clone(&server), delays(), tool_node())
        .await
        .unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!((failed.state().error.as_str(), server.calls()), ("read timed out", 4));
    // It is one execution with one start and one end.
    let facts = place.facts(failed.id()).await;
    assert!(
        matches!(facts[..], [CallFact::Permitted { .. }, CallFact::Evidence { late: false, .. }]),
        "{facts:?}",
    );
    assert!(place.store.recover().await.unwrap().interrupted.is_empty());
}

async fn the_last_answer_counts(place: Place) {
    struct Worse(AtomicUsize);
    impl Perform<Action> for Worse {
        async fn perform(&self, _call: &Call<Action>) -> Answer {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0 => Err(NotDone::not_applied("connection refused")),
                1 => Err(NotDone::still_running("the first cache has it")),
                _ => Err(NotDone::not_applied("the disk burnt")),
            }
        }
    }
    let pending = place.stored(read("a.txt")).await;
    let service = Worse(AtomicUsize::new(0));
    let store = &place.store;
    let performed = store.perform_with_retries::<Action>(pending, service, delays(), tool_node());
    match performed.await.unwrap() {
        Settled::Failed(failed) => assert_eq!(failed.state().error, "the disk burnt"),
        other => panic!("{other:?}"),
    }
}

async fn it_is_called_until_there_is_a_receipt(place: Place) {
    let server = Arc::new(Flaky::default());
    let pending = place.stored(read("a.txt")).await;
    let settled = place
        .store
        .perform_with_retries(pending, Arc::clone(&server), delays(), tool_node())
        .await
        .unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(done.state().result, "42 lines");
    assert_eq!(server.calls.load(Ordering::SeqCst), 3);
}

/// Where the type of the tool does not say so, the contract does.
async fn an_irreversible_call_is_not_repeated(place: Place) {
    for contract in [mail("bob"), read("a.txt").irreversible()] {
        let server = Arc::new(Counting::new(Err(NotDone::unknown("read timed out"))));
        let pending = place.stored(contract).await;
        let settled = place
            .store
            .perform_with_retries::<Action>(pending, Arc::clone(&server), delays(), tool_node())
            .await
            .unwrap();
        assert!(matches!(settled, Settled::InDoubt(_)));
        assert_eq!(server.calls(), 1);
    }
    let mut hinted: Planned<Track> = Planned::new(lookup(4711).irreversible()).unwrap();
    place.store.batch().create(hinted.machine()).write().await.unwrap();
    let server = Arc::new(Counting::new(Err(NotDone::unknown("read timed out"))));
    let store = &place.store;
    let settled = store.perform_with_retries(hinted, Arc::clone(&server), delays(), tool_node());
    assert!(matches!(settled.await.unwrap(), Settled::InDoubt(_)));
    assert_eq!(server.calls(), 1);
}

async fn an_approval_covers_the_retries(place: Place) {
    let (gate, planned) = place.asked(read("secret.txt")).await;
    let _ = machine_tests::approve(&place.store, gate, ann()).await.unwrap();
    let server = Arc::new(Flaky::default());
    let settled = place
        .store
        .perform_with_retries(planned, Arc::clone(&server), delays(), tool_node())
        .await
        .unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}

/// It comes back.
async fn what_does_not_start_is_not_called(place: Place) {
    let (_gate, planned) = place.asked(read("secret.txt")).await;
    let id = planned.id();
    let server = Arc::new(Flaky::default());
    let refused =
        place.store.perform_with_retries(planned, Arc::clone(&server), delays(), tool_node()).await;
    let Err(PerformError::NotBegun { planned, source }) = refused else { panic!("{refused:?}") };
    assert_err!(Err::<(), _>(source), CommitError::Deferred { .. });
    assert_eq!((planned.id(), server.calls.load(Ordering::SeqCst)), (id, 0));
    assert_eq!(place.status(id).await, Status::Pending);
}

/// A service that recovers its store during its calls.
struct Watched {
    store: Store,
    calls: AtomicUsize,
    interrupted: AtomicUsize,
}

impl Perform<Action> for Watched {
    async fn perform(&self, _call: &Call<Action>) -> Answer {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let found = self.store.recover().await?.interrupted.len();
        self.interrupted.fetch_add(found, Ordering::SeqCst);
        Err(NotDone::unknown("read timed out"))
    }
}

/// Its worker is busy with it until the last retry has ended.
async fn between_two_calls_it_is_not_interrupted(place: Place) {
    let server = Arc::new(Watched {
        store: place.store.clone(),
        calls: AtomicUsize::new(0),
        interrupted: AtomicUsize::new(0),
    });
    let pending = place.stored(read("a.txt")).await;
    let settled =
        place.store.perform_with_retries(pending, Arc::clone(&server), delays(), tool_node()).await;
    assert!(matches!(settled, Ok(Settled::Failed(_))));
    let found = (server.calls.load(Ordering::SeqCst), server.interrupted.load(Ordering::SeqCst));
    assert_eq!(found, (4, 0));
}
