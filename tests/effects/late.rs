//! Answers that come too late: they are evidence, and evidence outranks opinion.

use machine::effects::Recovered;
use machine_tests::{late_evidence, service::Holder};

use crate::effects::{
    prelude::*,
    timed_out::{Late, end, hasty, hasty_mail},
};

on_file! {
    a_receipt_that_comes_late,
    a_refusal_that_comes_late,
    a_late_answer_that_says_nothing,
    a_receipt_after_an_override,
    a_late_receipt_cannot_be_overruled,
    a_fenced_worker_cannot_commit,
    a_fenced_worker_does_not_start_its_call,
}

/// A call whose worker was fenced because it was overdue.
async fn overdue(place: &Place) -> (Place, Execution<Running>, InFlight) {
    let (place, clock) = place.clocked().await;
    let (running, permit) = place.begun(mail("bob").timeout_after(Duration::from_secs(30))).await;
    let call = in_flight(permit).await;
    clock.advance(30_000);
    assert_eq!(place.recovered().await.len(), 0, "it is still in time");
    clock.advance(1);
    let found = recovered(&place.open_again().await).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].journal().epoch(), 1);
    (place, running, call)
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
        let place = place.another().await;
        let (place, id, worker) = match situation {
            Situation::Overdue => {
                let (place, running, call) = overdue(&place).await;
                (place, running.id(), Worker::Settles(running, call))
            }
            Situation::Fenced => {
                let (running, call, _) = place.fenced_in_call(slow_mail("bob")).await;
                (place, running.id(), Worker::Settles(running, call))
            }
            Situation::TimedOut => {
                let (doubt, late, holder) = hasty_mail(&place).await;
                let id = doubt.id();
                let facts = place.facts(id).await;
                assert_is!(facts.last(), Some(CallFact::Parked { worker: Liveness::Alive, .. }));
                assert!(doubt.question().contains("no answer in time"), "{}", doubt.question());
                assert_eq!(recovered(&place.open_again().await).await.len(), 1);
                (place, id, Worker::Waits(tokio::spawn(late), holder))
            }
            Situation::FencedAndTimedOut => {
                // Another process declared it overdue before it noticed.
                let (running, permit) = place.begun(hasty(mail("bob"))).await;
                let id = running.id();
                let (service, mut holder) = held_back();
                let call = tokio::spawn(permit.call(service));
                holder.started().await;
                let _ = place.fenced(id).await;
                let settled = place.store.settle(running, call.await.unwrap(), tool_node()).await;
                let Ok(Settled::Fenced(current, late)) = settled else { panic!("{settled:?}") };
                assert_eq!((current.id(), current.status()), (id, Status::Waiting));
                (place, id, Worker::Waits(tokio::spawn(late), holder))
            }
        };
        // Until it answers, no person can free the key.
        let doubt = place.doubt().await;
        let contract = doubt.context().clone();
        let question = doubt.question();
        assert!(question.contains("could still be running in process "), "{question}");
        let (_, refused) = place.refuses_denial(doubt).await;
        assert_is!(refused, EffectError::WorkerAlive { id: of, .. } if *of == id);
        place.is_held(contract, id).await;
        assert_eq!(place.status(id).await, Status::Waiting);
        Self { situation, place, id, worker }
    }

    /// The answer comes, and is kept as evidence.
    async fn answers(self, answer: Answer, kept: &Evidence) -> (Place, Id) {
        let Self { situation, place, id, worker } = self;
        let before = place.status(id).await;
        match worker {
            Worker::Settles(running, call) => place.settles_late(running, call, answer).await,
            Worker::Waits(late, holder) => assert_eq!(end(late, holder, answer).await, *kept),
        }
        assert_eq!(place.status(id).await, before, "{situation:?}: it changes no state by itself");
        let facts = place.facts(id).await;
        let evidence = CallFact::Evidence { epoch: 0, evidence: kept.clone(), late: true };
        assert!(facts.contains(&evidence), "{situation:?}: {facts:?}");
        (place, id)
    }

    async fn brings_a_receipt(self) -> (Place, Id) {
        self.answers(receipt("250 queued"), &Evidence::Applied("250 queued".to_owned())).await
    }
}

/// It is kept and shown. `recover` takes it, without a question to a person, and its key is
/// applied.
async fn a_receipt_that_comes_late(place: Place) {
    for situation in Situation::ALL {
        let case = Case::new(&place, situation).await;
        let (place, id) = case.brings_a_receipt().await;
        let doubt = place.store.in_doubt(id).await.unwrap();
        let question = doubt.question();
        assert!(question.starts_with("It took effect: 250 queued."), "{question}");
        let late = late_evidence(&place.store.history(id).await.unwrap());
        assert_eq!(late, [Evidence::Applied("250 queued".to_owned())]);
        let view = place.view(id).await;
        assert_eq!(view.consequence_label, Label::InDoubt);
        assert!(view.has_side_effects);

        let Recovered { in_doubt, settled, failed, .. } = place.store.recover().await.unwrap();
        assert_eq!((in_doubt.len(), failed.len()), (0, 0));
        let [AnyExecution::Completed(done)] = &settled[..] else { panic!("{settled:?}") };
        assert_eq!((done.id(), done.state().result.as_str()), (id, "250 queued"));
        place.is_done(done.context().clone(), id).await;
        assert_eq!(place.recovered().await.len(), 0, "it is settled once");
        place.assert_intact().await;
    }
}

/// Nothing took effect: the key is free. The worker's own word needs no settling time, also if a
/// person repeats it.
async fn a_refusal_that_comes_late(place: Place) {
    for situation in Situation::ALL {
        for by_person in [false, true] {
            let case = Case::new(&place, situation).await;
            let kept = Evidence::NotApplied(Refusal::of(&ActionRefusal::new("550 no such user")));
            let (place, id) =
                case.answers(Err(NoReceipt::not_applied("550 no such user")), &kept).await;
            let contract = if by_person {
                let doubt = place.store.in_doubt(id).await.unwrap();
                place.deny(doubt).await.context().clone()
            } else {
                let Recovered { in_doubt, settled, .. } = place.store.recover().await.unwrap();
                assert_eq!(in_doubt.len(), 0);
                let [AnyExecution::Failed(failed)] = &settled[..] else { panic!("{settled:?}") };
                assert_eq!((failed.id(), &*failed.state().error), (id, "550 no such user"));
                failed.context().clone()
            };
            let _ = place.done(contract).await;
            place.assert_intact().await;
        }
    }
}

/// An error proves nothing. It is known that the call has ended, so that a person can answer.
async fn a_late_answer_that_says_nothing(place: Place) {
    // After `Situation::Fenced` a person has to wait for the settling time as well.
    for situation in [Situation::Overdue, Situation::TimedOut, Situation::FencedAndTimedOut] {
        let case = Case::new(&place, situation).await;
        let kept = Evidence::Unknown("connection reset".to_owned());
        let (place, id) = case.answers(Err(NoReceipt::unknown("connection reset")), &kept).await;
        let doubt = recovered(&place.open_again().await).await.pop().unwrap();
        assert_eq!(doubt.id(), id);
        let failed = place.deny(doubt).await;
        assert_eq!(place.status(failed.id()).await, Status::Failed);
    }
}

/// A person overrode wrongly: every view reports it, and nothing runs again: no retry that has
/// begun already, and none that was planned before.
async fn a_receipt_after_an_override(place: Place) {
    for (situation, retry_begins) in
        Situation::ALL.into_iter().flat_map(|situation| [(situation, false), (situation, true)])
    {
        let case = Case::new(&place, situation).await;
        let (place, id) = (&case.place, case.id);
        let failed = place.overrule(place.store.in_doubt(id).await.unwrap()).await;
        assert_eq!(place.label(id).await, Label::Failed);
        let retry = place.stored(Contract::retry(&failed, ann())).await;
        let retry_id = retry.id();
        let begun =
            if retry_begins { Some(begin(&place.store, retry).await.unwrap()) } else { None };
        let (place, id) = case.brings_a_receipt().await;
        assert_eq!(place.status(id).await, Status::Failed);
        let facts = place.facts(id).await;
        assert_is!(facts.last(), Some(CallFact::WorkerEnded { .. }));
        assert_eq!(place.label(id).await, Label::Contradicted);
        let view = place.view(id).await.to_string();
        assert!(view.starts_with("[CONTRADICTED ⚠️ IRREVERSIBLE"), "{view}");
        assert!(view.contains("250 queued"), "{view}");
        if let Some((running, permit)) = begun {
            // It has its permit, and has not called yet: it finds out, and is not refused its
            // outcome.
            let outcome = applied(permit, "sent twice").await;
            assert_is!(outcome.evidence(), Evidence::NotApplied(_));
            let settled = place.settled(running, outcome).await;
            assert_is!(settled, Settled::Failed(_));
        } else {
            let retry = place.pending(retry_id).await;
            assert_is!(place.refuses(retry).await,
                EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == id);
        }
        let place = place.reopened().await;
        place.is_done(failed.context().clone(), id).await;
        place.is_done(Contract::retry(&failed, ann()), id).await;
        place.assert_intact().await;
    }
}

/// A person cannot deny a receipt, not even with an override. A machine that was loaded before it
/// conflicts.
async fn a_late_receipt_cannot_be_overruled(place: Place) {
    let (place, running, call) = overdue(&place).await;
    let id = running.id();
    let stale = place.store.in_doubt(id).await.unwrap();
    place.settles_late(running, call, receipt("250 queued")).await;
    let refused = place.store.override_not_applied(stale, "nothing there", ann()).await;
    assert_is!(refused.unwrap_err().reason, EffectError::Commit(CommitError::Conflict { .. }));

    let doubt = place.store.in_doubt(id).await.unwrap();
    let (doubt, refused) = place.refuses_denial(doubt).await;
    assert!(refused.to_string().contains("a receipt proves"), "{refused}");
    assert_is!(refused, EffectError::Commit(CommitError::Refused { .. }));
    let before = place.dump();
    let refused = place.store.override_not_applied(doubt, "really", ann()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::Refused { .. }));
    let lost = Counting::finds(Err(NoReceipt::not_applied("unknown to us")));
    let refused = place.store.ask_service::<Action>(refused.machine, &lost, tool_node()).await;
    let refused = refused.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::Refused { .. }));
    assert_eq!(place.dump(), before);
    place.confirm(refused.machine).await;
}

/// A fenced worker cannot commit its machine in another way.
async fn a_fenced_worker_cannot_commit(place: Place) {
    let (place, running, call) = overdue(&place).await;
    let outcome = call.answer(receipt("250 queued")).await;
    let refused = place.store.settle(running, outcome, tool_node()).await.unwrap_err();
    let mut forged = refused.machine.0.suspend("later".to_owned(), tool_node());
    assert_is!(
        place.refuses_machine(&mut forged).await,
        EffectError::Commit(CommitError::Refused { .. })
    );
}

/// One that was fenced before it called finds out before it does.
async fn a_fenced_worker_does_not_start_its_call(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let id = running.id();
    let _ = place.fenced(id).await;
    let server = Arc::new(Counting::new(receipt("250 queued")));
    let outcome = permit.call(Arc::clone(&server)).await;
    assert_eq!(server.calls(), 0);
    assert!(matches!(outcome.evidence(), Evidence::NotApplied(reason)
        if reason.message.contains("not started")));
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: EffectError::Fenced { .. }, .. });
    assert_is!(place.settled_late().await, AnyExecution::Failed(failed) if failed.id() == id);
    let _ = place.done(mail("bob")).await;
    assert_err!(place.store.in_doubt(id).await, StateError::NotInDoubt { .. });
}
