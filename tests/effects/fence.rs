//! Shutting a worker out on request.

use std::sync::{Arc, Mutex};

use machine::{
    Id,
    contract::{
        Action, Answer, AnyExecution, Applied, Call, CallFact, Evidence, Liveness, Perform,
        Settled, execution::Status,
    },
    journal::Fact,
    store::{CommitError, LoadError, Store},
    typed::Refused,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{asked, mail, pending_mail, read},
};

use crate::store::{
    service::{in_flight, receipt},
    support::{Place, applied, on_both},
};

on_both! {
    a_fence_parks_what_runs,
    only_what_runs_is_fenced,
    a_call_can_ask_whether_it_was_fenced,
    a_permit_is_not_valid_once_an_earlier_attempt_has_taken_place,
    a_fence_and_an_answer_at_once_lose_nothing,
}

/// The epoch rises, and the journal says who did it and why.
async fn a_fence_parks_what_runs(place: Place) {
    let (running, _permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let doubt = place.store.fence(id, "wrong address", graph_runner()).await.unwrap();
    assert_eq!(doubt.execution().journal().epoch(), 1);
    assert!(doubt.question().contains("wrong address"), "{}", doubt.question());
    assert_eq!(place.status(id).await, Status::Waiting);
    let entries = place.entries(id).await;
    let fenced = entries.iter().find(|entry| matches!(entry.fact, Fact::Fenced { .. })).unwrap();
    let Fact::Fenced { epoch: 1, reason } = &fenced.fact else { panic!("{fenced:?}") };
    assert_eq!(reason, "wrong address");
    let by = (fenced.actor.as_deref(), fenced.by.as_deref());
    assert_eq!(by, (Some("graph_runner"), Some("test")));
    let facts = place.facts(id).await;
    assert!(matches!(facts.last(), Some(CallFact::Parked { worker: Liveness::Alive, .. })));
    assert_eq!(place.recovered().await.len(), 1);
}

/// Anything else has no worker that could be fenced.
async fn only_what_runs_is_fenced(place: Place) {
    let mut question = asked("Deploy?");
    place.store.create(&mut question).await.unwrap();
    let (reading, _permit) = place.begun(read("a.txt")).await;
    for (id, state) in [
        (place.stored(mail("ann")).await.id(), "PENDING"),
        (place.done(mail("carl")).await.id(), "COMPLETED"),
        (place.doubtful(mail("dora")).await.execution().id(), "WAITING"),
        (question.id(), "WAITING"),
        (reading.id(), "RUNNING"),
    ] {
        let before = place.dump().await;
        let refused = place.store.fence(id, "no", graph_runner()).await;
        assert_err!(refused, LoadError::NotRunning { id: of, found }
            if *of == id && found == state);
        assert_eq!(place.dump().await, before);
    }
    let unknown: Id = "00000000-0000-7000-8000-000000000000".parse().unwrap();
    let refused = place.store.fence(unknown, "no", graph_runner()).await;
    assert_err!(refused, LoadError::NotFound { id } if *id == unknown);
}

/// A service that asks right before the step that cannot be taken back, and after it.
struct Careful {
    store: Store,
    asked: Arc<Mutex<Vec<bool>>>,
}

impl Perform<Action> for Careful {
    async fn perform(&self, call: &Call<Action>) -> Answer {
        let before = call.still_valid().await;
        let _ = self.store.fence(call.execution_id(), "wrong address", graph_runner()).await?;
        let after = call.still_valid().await;
        self.asked.lock().unwrap().extend([before, after]);
        Ok(Applied::new("it went on all the same"))
    }
}

async fn a_call_can_ask_whether_it_was_fenced(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let service = Careful { store: place.store.clone(), asked: Arc::clone(&asked) };
    let outcome = permit.call(service).await;
    assert_eq!(*asked.lock().unwrap(), [true, false]);
    assert!(matches!(outcome.evidence(), Evidence::Applied(_)));
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
}

/// A person was wrong about the first attempt, and its receipt arrives when the second one has its
/// permit but has not called yet.
async fn a_permit_is_not_valid_once_an_earlier_attempt_has_taken_place(place: Place) {
    let (first, permit) = place.begun(mail("bob")).await;
    let call = in_flight(permit).await;
    let doubt = place.store.fence(first.id(), "no answer", graph_runner()).await.unwrap();
    let _ = place.store.override_not_applied(doubt, "never arrived", ann()).await.unwrap();
    let (second, permit) = place.begun(mail("bob")).await;
    let outcome = call.answer(receipt("250 queued")).await;
    let settled = place.store.settle(first, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });

    let outcome = applied(permit, "sent twice").await;
    assert!(matches!(outcome.evidence(), Evidence::NotApplied(_)), "{outcome:?}");
    let settled = place.store.settle(second, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)));
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
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
                assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
                let recovered = place.store.recover().await.unwrap();
                assert!(matches!(&recovered.settled[..], [AnyExecution::Completed(_)]));
            }
            Err(LoadError::NotRunning { .. }) => {
                assert!(matches!(settled, Ok(Settled::Completed(_))));
            }
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(place.status(id).await, Status::Completed);
        let refused = place.store.create(&mut pending_mail(&to)).await;
        assert_err!(refused, CommitError::AlreadyDone { by, .. } if *by == id);
    }
}
