//! Answers that come too late: they are evidence, and evidence outranks opinion.

use std::{sync::Arc, time::Duration};

use machine::{
    Id,
    contract::{
        Action, Answer, AnyExecution, CallFact, Contract, Evidence, Execution, NotDone, Settled,
        execution::{Running, Status},
    },
    effects::Recovered,
    store::{CommitError, LoadError, Store},
    typed::Refused,
    view::{Label, late_evidence},
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::mail,
};

use crate::effects::timeout::{Late, end, hasty, timed_out};
use crate::store::{
    service::{Counting, Holder, InFlight, held_back, in_flight, receipt},
    support::{Hand, Place, begin, on_both, recovered, slow_mail},
};

on_both! {
    a_receipt_that_comes_late,
    a_refusal_that_comes_late,
    a_late_answer_that_says_nothing,
    a_receipt_after_an_override,
    a_machine_that_was_loaded_before_the_evidence,
    a_late_receipt_cannot_be_overruled,
    a_fenced_worker_cannot_commit,
    a_fenced_worker_does_not_start_its_call,
}

/// A call whose worker was fenced because it was overdue.
async fn overdue(place: &Place) -> (Place, Hand, Execution<Running>, InFlight) {
    let (place, clock) = place.clocked().await;
    let (running, permit) = place.begun(mail("bob").timeout_after(Duration::from_secs(30))).await;
    let call = in_flight(permit).await;
    clock.advance(30_000);
    assert_eq!(place.recovered().await.len(), 0, "it is still in time");
    clock.advance(1);
    let found = recovered(&place.open_again().await).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].execution().journal().epoch(), 1);
    (place, clock, running, call)
}

/// The worker settles, and learns that it was fenced.
async fn settle_late(store: &Store, running: Execution<Running>, call: InFlight, answer: Answer) {
    let id = running.id();
    let outcome = call.answer(answer).await;
    let settled = store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { id: of }, .. } if *of == id);
}

/// The reasons why an answer is late.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Situation {
    /// Another process fenced the worker, because it was overdue.
    Overdue,
    /// A person fenced it in time. Its tool has a settling time.
    Fenced,
    /// Its own time limit ended its wait, and the call continues.
    TimedOut,
    /// Both.
    FencedAndTimedOut,
}

impl Situation {
    const ALL: [Self; 4] = [Self::Overdue, Self::Fenced, Self::TimedOut, Self::FencedAndTimedOut];
}

/// A call in doubt whose answer is still to come.
struct Case {
    situation: Situation,
    place: Place,
    id: Id,
    worker: Worker,
}

enum Worker {
    /// It settles, and learns that it was fenced.
    Settles(Execution<Running>, InFlight),
    /// Its late call continues.
    Waits(Late, Holder),
}

impl Case {
    async fn new(place: &Place, situation: Situation) -> Self {
        let (place, id, worker) = match situation {
            Situation::Overdue => {
                let (place, _, running, call) = overdue(&place.another().await).await;
                (place, running.id(), Worker::Settles(running, call))
            }
            Situation::Fenced => {
                let place = place.another().await;
                let (running, permit) = place.begun(slow_mail("bob")).await;
                let (id, call) = (running.id(), in_flight(permit).await);
                let _ = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
                (place, id, Worker::Settles(running, call))
            }
            Situation::TimedOut => {
                let place = place.another().await;
                let (doubt, late, holder) = timed_out(&place).await;
                let id = doubt.execution().id();
                (place, id, Worker::Waits(tokio::spawn(late), holder))
            }
            Situation::FencedAndTimedOut => {
                let place = place.another().await;
                let (running, permit) = place.begun(hasty(mail("bob"))).await;
                let id = running.id();
                let (service, mut holder) = held_back();
                let call = tokio::spawn(permit.call(service));
                holder.started().await;
                let _ = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
                let settled = place.store.settle(running, call.await.unwrap(), tool_node()).await;
                let Ok(Settled::Fenced(_, late)) = settled else { panic!("{settled:?}") };
                (place, id, Worker::Waits(tokio::spawn(late), holder))
            }
        };
        Self { situation, place, id, worker }
    }

    /// The answer comes, and is kept as evidence.
    async fn answers(self, answer: Answer, kept: &Evidence) -> (Place, Id) {
        let Self { situation, place, id, worker } = self;
        let before = place.status(id).await;
        match worker {
            Worker::Settles(running, call) => {
                settle_late(&place.store, running, call, answer).await;
            }
            Worker::Waits(late, holder) => assert_eq!(end(late, holder, answer).await, *kept),
        }
        assert_eq!(place.status(id).await, before, "{situation:?}: it changes no state by itself");
        let facts = place.facts(id).await;
        let evidence = CallFact::Evidence { epoch: 0, evidence: kept.clone(), late: true };
        assert!(facts.contains(&evidence), "{situation:?}: {facts:?}");
        (place, id)
    }
}

/// It is kept and shown. `recover` takes it, without a question to a person, and its key is applied.
async fn a_receipt_that_comes_late(place: Place) {
    for situation in Situation::ALL {
        let case = Case::new(&place, situation).await;
        let kept = Evidence::Applied("250 queued".to_owned());
        assert_eq!(case.place.recovered().await.len(), 1, "{situation:?}: no answer yet");
        let (place, id) = case.answers(receipt("250 queued"), &kept).await;
        assert_eq!(place.status(id).await, Status::Waiting);
        let doubt = place.store.in_doubt(id).await.unwrap();
        assert!(doubt.question().starts_with("It took place: 250 queued."), "{}", doubt.question());
        let late = late_evidence(&place.store.history(id).await.unwrap());
        let late: Vec<_> = late.into_iter().map(|late| late.evidence).collect();
        assert_eq!(late, [kept]);
        let view = place.view(id).await;
        assert_eq!(view.consequence_label, Label::InDoubt);
        assert!(view.has_side_effects);

        let Recovered { in_doubt, settled, failed, .. } = place.store.recover().await.unwrap();
        assert_eq!((in_doubt.len(), failed.len()), (0, 0));
        let [AnyExecution::Completed(done)] = &settled[..] else { panic!("{settled:?}") };
        assert_eq!((done.id(), done.state().result.as_str()), (id, "250 queued"));
        let again = Execution::new(done.context().clone());
        assert_err!(place.store.create(&mut { again }).await,
            CommitError::AlreadyDone { by, .. } if *by == id);
        assert_eq!(place.recovered().await.len(), 0, "it is settled once");
        assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
    }
}

/// Nothing took effect: the key is free. The worker's own word needs no settling time, also if a person
/// repeats it.
async fn a_refusal_that_comes_late(place: Place) {
    for situation in Situation::ALL {
        for by_person in [false, true] {
            let case = Case::new(&place, situation).await;
            let kept = Evidence::NotApplied("550 no such user".to_owned());
            let (place, id) =
                case.answers(Err(NotDone::not_applied("550 no such user")), &kept).await;
            let contract = if by_person {
                let doubt = place.store.in_doubt(id).await.unwrap();
                let said =
                    place.store.confirm_not_applied(doubt, "as the worker says", ann()).await;
                said.unwrap().context().clone()
            } else {
                let Recovered { in_doubt, settled, .. } = place.store.recover().await.unwrap();
                assert_eq!(in_doubt.len(), 0);
                let [AnyExecution::Failed(failed)] = &settled[..] else { panic!("{settled:?}") };
                assert_eq!((failed.id(), &*failed.state().error), (id, "550 no such user"));
                failed.context().clone()
            };
            let _ = place.done(contract).await;
            assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
        }
    }
}

/// An error proves nothing. It is known that the call has ended, so that a person can answer.
async fn a_late_answer_that_says_nothing(place: Place) {
    // After `Situation::Fenced` a person has to wait for the settling time as well.
    for situation in [Situation::Overdue, Situation::TimedOut, Situation::FencedAndTimedOut] {
        let case = Case::new(&place, situation).await;
        let kept = Evidence::Unknown("connection reset".to_owned());
        let (place, id) = case.answers(Err(NotDone::unknown("connection reset")), &kept).await;
        let doubt = recovered(&place.open_again().await).await.pop().unwrap();
        assert_eq!(doubt.execution().id(), id);
        let failed = place.store.confirm_not_applied(doubt, "not there", ann()).await;
        assert_eq!(place.status(failed.unwrap().id()).await, Status::Failed);
    }
}

/// A person took responsibility, and was wrong: every view says so, and nothing runs again.
async fn a_receipt_after_an_override(place: Place) {
    for situation in Situation::ALL {
        let case = Case::new(&place, situation).await;
        let (place, id) = (&case.place, case.id);
        let doubt = place.store.in_doubt(id).await.unwrap();
        let failed = place.store.override_not_applied(doubt, "nothing there", ann()).await.unwrap();
        assert_eq!(place.view(id).await.consequence_label, Label::Failed);
        let retry = place.stored(Contract::retry(&failed, ann())).await;
        let kept = Evidence::Applied("250 queued".to_owned());
        let (place, id) = case.answers(receipt("250 queued"), &kept).await;
        assert_eq!(place.status(id).await, Status::Failed);
        let facts = place.facts(id).await;
        assert!(matches!(facts.last(), Some(CallFact::WorkerEnded { .. })), "{facts:?}");
        let view = place.view(id).await;
        assert_eq!(view.consequence_label, Label::Contradicted);
        let view = view.to_string();
        assert!(view.starts_with("[CONTRADICTED ⚠️ IRREVERSIBLE"), "{view}");
        assert!(view.contains("250 queued"), "{view}");
        let mut again = Execution::new(failed.context().clone());
        assert_err!(place.store.create(&mut again).await,
            CommitError::AlreadyDone { by, .. } if *by == id);
        assert_err!(begin(&place.store, retry).await,
            CommitError::AlreadyDone { by, .. } if *by == id);
        assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
    }
}

/// It conflicts, even with an override.
async fn a_machine_that_was_loaded_before_the_evidence(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    let stale = place.store.in_doubt(id).await.unwrap();
    settle_late(&place.store, running, call, receipt("250 queued")).await;
    let refused = place.store.override_not_applied(stale, "nothing there", ann()).await;
    assert_err!(refused, Refused { reason: CommitError::Conflict { .. }, .. });
}

/// No person can say that it did not take effect, not even with an override.
async fn a_late_receipt_cannot_be_overruled(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    settle_late(&place.store, running, call, receipt("250 queued")).await;
    let before = place.dump().await;
    let doubt = place.store.in_doubt(id).await.unwrap();
    let refused = place.store.confirm_not_applied(doubt, "nothing came", ann()).await.unwrap_err();
    assert!(refused.reason.to_string().contains("a receipt says"), "{}", refused.reason);
    assert_err!(Err::<(), _>(refused.reason), CommitError::Refused { .. });
    let refused = place.store.override_not_applied(refused.machine, "really", ann()).await;
    let refused = refused.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::Refused { .. });
    let lost = Counting::finds(Err(NotDone::not_applied("unknown to us")));
    let refused =
        place.store.ask_service::<Action>(refused.machine, &lost, tool_node()).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::Refused { .. });
    assert_eq!(place.dump().await, before);
    let done = place.store.confirm_applied(refused.machine, "it came", ann()).await.unwrap();
    assert_eq!(done.state().result, "it came");
}

/// A fenced worker cannot commit its machine in another way.
async fn a_fenced_worker_cannot_commit(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let outcome = call.answer(receipt("250 queued")).await;
    let Err(Refused { machine: (running, _outcome), .. }) =
        place.store.settle(running, outcome, tool_node()).await
    else {
        panic!("it was fenced");
    };
    let mut forged = running.suspend("later".to_owned(), tool_node());
    assert_err!(place.store.commit(&mut forged).await, CommitError::Refused { .. });
}

/// One that was fenced before it called finds out before it does.
async fn a_fenced_worker_does_not_start_its_call(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let _ = place.store.fence(id, "wrong address", graph_runner()).await.unwrap();
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let outcome = permit.call(Arc::clone(&server)).await;
    assert_eq!(server.calls(), 0);
    assert!(matches!(outcome.evidence(), Evidence::NotApplied(reason)
        if reason.contains("not started")));
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
    let recovered = place.store.recover().await.unwrap();
    assert!(matches!(&recovered.settled[..], [AnyExecution::Failed(failed)] if failed.id() == id));
    let again = place.stored(mail("bob")).await;
    let _ = begin(&place.store, again).await.unwrap();
    assert_err!(place.store.in_doubt(id).await, LoadError::NotInDoubt { .. });
}
