//! A fenced worker comes back: what it says is late evidence, and outranks opinion (DESIGN 5).

use std::{sync::Arc, time::Duration};

use machine::{
    contract::{
        Action, Answer, AnyExecution, CallFact, Evidence, Execution, NotDone,
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
    samples::{mail, pending_mail},
};

use crate::store::{
    service::{Counting, InFlight, in_flight, receipt},
    support::{Hand, Place, begin, on_both, recovered, slow_mail},
};

on_both! {
    the_evidence_of_an_overdue_worker_is_late,
    a_late_receipt_settles_what_is_in_doubt,
    a_late_refusal_settles_what_is_in_doubt,
    a_late_answer_that_says_nothing_settles_nothing,
    a_late_receipt_cannot_be_overruled,
    a_late_refusal_counts_at_once,
    evidence_after_the_answer_contradicts_it,
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

/// It is kept and shown, and changes no state by itself.
async fn the_evidence_of_an_overdue_worker_is_late(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    let stale = place.store.in_doubt(id).await.unwrap();
    settle_late(&place.store, running, call, receipt("250 queued")).await;
    assert_eq!(place.status(id).await, Status::Waiting);

    let doubt = place.store.in_doubt(id).await.unwrap();
    assert!(doubt.question().starts_with("It took place: 250 queued."), "{}", doubt.question());
    let late = late_evidence(&place.store.history(id).await.unwrap());
    let late: Vec<_> = late.into_iter().map(|late| late.evidence).collect();
    assert_eq!(late, [Evidence::Applied("250 queued".to_owned())]);
    let view = place.view(id).await;
    assert_eq!(view.consequence_label, Label::InDoubt);
    assert!(view.has_side_effects);

    // A machine that was loaded before the evidence conflicts, even with an override.
    let refused = place.store.override_not_applied(stale, "nothing there", ann()).await;
    assert_err!(refused, Refused { reason: CommitError::Conflict { .. }, .. });
    let _ = place.store.confirm_applied(doubt, "250 queued", ann()).await.unwrap();
}

/// `recover` takes it: nobody needs to be asked.
async fn a_late_receipt_settles_what_is_in_doubt(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    settle_late(&place.store, running, call, receipt("250 queued")).await;
    let Recovered { in_doubt, settled, failed, .. } = place.store.recover().await.unwrap();
    assert_eq!((in_doubt.len(), failed.len()), (0, 0));
    let [AnyExecution::Completed(done)] = &settled[..] else { panic!("{settled:?}") };
    assert_eq!((done.id(), done.state().result.as_str()), (id, "250 queued"));
    assert_eq!(place.status(id).await, Status::Completed);
    assert_err!(place.store.create(&mut pending_mail("bob")).await,
        CommitError::AlreadyDone { by, .. } if *by == id);
    assert_eq!(place.recovered().await.len(), 0, "it is settled once");
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// The same if nothing took place: the key is free.
async fn a_late_refusal_settles_what_is_in_doubt(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    settle_late(&place.store, running, call, Err(NotDone::not_applied("550 no such user"))).await;
    let Recovered { in_doubt, settled, .. } = place.store.recover().await.unwrap();
    assert_eq!(in_doubt.len(), 0);
    let [AnyExecution::Failed(failed)] = &settled[..] else { panic!("{settled:?}") };
    assert_eq!((failed.id(), failed.state().error.as_str()), (id, "550 no such user"));
    let _ = place.done(mail("bob")).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// An error proves nothing. It is known that the call has ended, so that a person can answer.
async fn a_late_answer_that_says_nothing_settles_nothing(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    settle_late(&place.store, running, call, Err(NotDone::unknown("connection reset"))).await;
    let mut found = place.recovered().await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].execution().id(), id);
    let failed = place.store.confirm_not_applied(found.remove(0), "not there", ann()).await;
    assert_eq!(place.status(failed.unwrap().id()).await, Status::Failed);
}

/// Nobody can say that it did not take place, not even by name.
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

/// What the worker itself says needs no settling time, and no override.
async fn a_late_refusal_counts_at_once(place: Place) {
    let (running, permit) = place.begun(slow_mail("bob")).await;
    let id = running.id();
    let call = in_flight(permit).await;
    let _ = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
    settle_late(&place.store, running, call, Err(NotDone::not_applied("550"))).await;
    let doubt = place.store.in_doubt(id).await.unwrap();
    let _ = place.store.confirm_not_applied(doubt, "as the worker says", ann()).await.unwrap();
}

/// A person took responsibility, and was wrong: every view says so, and nothing runs again.
async fn evidence_after_the_answer_contradicts_it(place: Place) {
    let (place, _clock, running, call) = overdue(&place).await;
    let id = running.id();
    let doubt = place.store.in_doubt(id).await.unwrap();
    let _ = place.store.override_not_applied(doubt, "nothing there", ann()).await.unwrap();
    assert_eq!(place.view(id).await.consequence_label, Label::Failed);
    settle_late(&place.store, running, call, receipt("250 queued")).await;
    assert_eq!(place.status(id).await, Status::Failed);
    let facts = place.facts(id).await;
    let [.., CallFact::Evidence { late: true, epoch: 0, .. }, CallFact::WorkerEnded { .. }] =
        &facts[..]
    else {
        panic!("{facts:?}");
    };
    let view = place.view(id).await;
    assert_eq!(view.consequence_label, Label::Contradicted);
    assert!(view.result.unwrap().contains("250 queued"));
    assert_err!(place.store.create(&mut pending_mail("bob")).await,
        CommitError::AlreadyDone { by, .. } if *by == id);
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
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
