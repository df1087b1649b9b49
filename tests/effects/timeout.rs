//! A call that is still running after its timeout, and its late answer.

use std::time::Duration;

use machine::{
    contract::{
        Action, Answer, Call, CallFact, Contract, Evidence, InDoubt, LateCall, Liveness, Settled,
        execution::Status, service_fn,
    },
    effects::Settle,
    store::CommitError,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::{mail, read},
};
use tokio::task::JoinHandle;

use crate::store::{
    service::{Holder, held_back, receipt},
    support::{Place, begin, on_both, recovered},
};

on_both! {
    a_late_receipt_that_cannot_be_written_is_in_the_error,
    a_question_forgets_a_worker_that_has_ended,
    a_call_without_an_answer_is_in_doubt_and_goes_on,
    a_late_call_that_is_dropped_has_ended,
    a_late_call_that_is_dropped_is_cut_off,
    a_worker_that_was_fenced_and_timed_out_still_reports,
    a_batch_hands_out_the_late_call_too,
    an_idempotent_call_without_an_answer_has_failed,
    a_call_that_answers_in_time_does_not_time_out,
}

pub(crate) fn hasty(contract: Contract) -> Contract {
    contract.timeout_after(Duration::from_millis(20))
}

/// A call that timed out and is held back.
pub(crate) async fn timed_out(place: &Place) -> (InDoubt, LateCall, Holder) {
    let (service, mut holder) = held_back();
    let pending = place.stored(hasty(mail("bob"))).await;
    let settled = place.store.perform::<Action>(pending, service, tool_node()).await.unwrap();
    holder.started().await;
    let Settled::TimedOut(doubt, late) = settled else { panic!("{settled:?}") };
    (doubt, late, holder)
}

pub(crate) type Late = JoinHandle<Result<Evidence, Box<dyn std::error::Error + Send + Sync>>>;

pub(crate) async fn end(late: Late, holder: Holder, answer: Answer) -> Evidence {
    holder.answer(answer);
    late.await.unwrap().unwrap()
}

/// Then the program can still tell a person.
async fn a_late_receipt_that_cannot_be_written_is_in_the_error(place: Place) {
    let (_doubt, late, holder) = timed_out(&place).await;
    place.store.close().await.unwrap();
    let late = tokio::spawn(late);
    holder.answer(receipt("250 queued as 4711"));
    let error = late.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("250 queued as 4711") && error.contains("not on disk"), "{error}");
}

/// A person must not wait for a worker that is known to have ended.
async fn a_question_forgets_a_worker_that_has_ended(place: Place) {
    let (doubt, late, _holder) = timed_out(&place).await;
    assert!(
        doubt.question().contains("could still be running in process "),
        "{}",
        doubt.question()
    );
    drop(late);
    let found = place.recovered().await.pop().unwrap();
    assert!(!found.question().contains("running"), "{}", found.question());
    assert!(found.question().contains("It is in doubt: no answer in time"), "{}", found.question());
}

async fn a_call_without_an_answer_is_in_doubt_and_goes_on(place: Place) {
    let (doubt, late, holder) = timed_out(&place).await;
    let id = doubt.execution().id();
    assert!(doubt.question().contains("no answer in time"), "{}", doubt.question());
    assert!(
        doubt.question().contains("could still be running in process "),
        "{}",
        doubt.question()
    );
    assert_eq!(place.status(id).await, Status::Waiting);
    let facts = place.facts(id).await;
    assert!(matches!(facts.last(), Some(CallFact::Parked { worker: Liveness::Alive, .. })));
    let refused = place.store.confirm_not_applied(doubt, "nothing there", ann()).await;
    let refused = refused.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::WorkerAlive { id: of, .. } if *of == id);
    let second = begin(&place.store, place.stored(mail("bob")).await).await;
    assert_err!(second, CommitError::KeyHeld { by, .. } if *by == id);
    assert_eq!(recovered(&place.open_again().await).await.len(), 1);
    let late = tokio::spawn(late);
    end(late, holder, receipt("250 queued")).await;
}

async fn a_late_call_that_is_dropped_has_ended(place: Place) {
    let (doubt, late, holder) = timed_out(&place).await;
    drop((late, holder));
    let _ = place.store.confirm_not_applied(doubt, "nothing there", ann()).await.unwrap();
    assert_eq!(place.recovered().await.len(), 0);
}

/// A late call of a service that may have started something: only the end of the process, evidence or a named
/// person ends it.
async fn a_late_call_that_is_dropped_is_cut_off(place: Place) {
    let (running, permit) = place.begun(hasty(mail("bob"))).await;
    let service = service_fn(|_: &Call<Action>| Box::pin(std::future::pending()));
    let outcome = permit.call(service).await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::TimedOut(doubt, late) = settled else { panic!("{settled:?}") };
    let id = doubt.execution().id();
    drop(late);
    let refused = place.store.confirm_not_applied(doubt, "nothing there", ann()).await;
    let refused = refused.unwrap_err();
    assert_err!(Err::<(), _>(&refused.reason), CommitError::CutOff { id: of, .. } if *of == id);
    let process = format!("in process {} on ", std::process::id());
    assert!(refused.reason.to_string().contains(&process), "{}", refused.reason);
    let facts = place.facts(id).await;
    assert!(matches!(facts.last(), Some(CallFact::CutOff { .. })), "{facts:?}");
    let [doubt] = &place.recovered().await[..] else { panic!("it is in doubt") };
    assert!(doubt.question().contains("was cut off in process "), "{}", doubt.question());
    let failed = place.store.override_not_applied(refused.machine, "asked them", ann()).await;
    assert!(failed.is_ok());
}

/// Another process declared it overdue before it noticed.
async fn a_worker_that_was_fenced_and_timed_out_still_reports(place: Place) {
    let (running, permit) = place.begun(hasty(mail("bob"))).await;
    let id = running.id();
    let (service, mut holder) = held_back();
    let call = tokio::spawn(permit.call(service));
    holder.started().await;
    let _ = place.store.fence(id, "no answer", graph_runner()).await.unwrap();
    let outcome = call.await.unwrap();
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::Fenced(current, late) = settled else { panic!("{settled:?}") };
    assert_eq!((current.id(), current.status()), (id, Status::Waiting));
    let doubt = place.store.in_doubt(id).await.unwrap();
    let refused = place.store.confirm_not_applied(doubt, "nothing there", ann()).await;
    assert_err!(refused.map_err(|refused| refused.reason), CommitError::WorkerAlive { .. });

    end(tokio::spawn(late), holder, receipt("250 queued")).await;
}

async fn a_batch_hands_out_the_late_call_too(place: Place) {
    let (running, permit) = place.begun(hasty(mail("bob"))).await;
    let (service, mut holder) = held_back();
    let outcome = permit.call(service).await;
    holder.started().await;
    let mut settle = Settle::new(running, outcome, tool_node());
    place.store.batch().settle(&mut settle).write().await.unwrap();
    let Ok(Settled::TimedOut(_doubt, late)) = settle.finish() else { panic!("it goes on") };
    end(tokio::spawn(late), holder, receipt("250 queued")).await;
    assert_eq!(place.store.recover().await.unwrap().settled.len(), 1);
}

/// It can simply be called again.
async fn an_idempotent_call_without_an_answer_has_failed(place: Place) {
    let (service, _holder) = held_back();
    let pending = place.stored(hasty(read("a.txt"))).await;
    let settled = place.store.perform::<Action>(pending, service, tool_node()).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "no answer in time");
    assert_eq!(place.recovered().await.len(), 0);
}

async fn a_call_that_answers_in_time_does_not_time_out(place: Place) {
    let (running, permit) = place.begun(mail("bob").timeout_after(Duration::from_mins(1))).await;
    let (service, mut holder) = held_back();
    let call = tokio::spawn(permit.call(service));
    holder.started().await;
    holder.answer(receipt("250 queued"));
    let settled = place.store.settle(running, call.await.unwrap(), tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
}

/// The program has dropped its store: the call keeps its worker alive until its answer is on disk.
#[tokio::test]
async fn a_late_call_outlives_the_store() {
    let place = Place::new().await;
    let id = place.stored(hasty(mail("bob"))).await.id();
    let worker = place.open_again().await;
    let (service, mut holder) = held_back();
    let pending = crate::store::support::pending(&worker, id).await;
    let settled = worker.perform::<Action>(pending, service, tool_node()).await.unwrap();
    holder.started().await;
    let Settled::TimedOut(_doubt, late) = settled else { panic!("{settled:?}") };
    let late = tokio::spawn(late);
    drop(worker);
    let doubt = place.recovered().await.pop().unwrap();
    let refused = place.store.confirm_not_applied(doubt, "nothing there", ann()).await;
    assert_err!(refused.map_err(|refused| refused.reason), CommitError::WorkerAlive { .. });
    end(late, holder, receipt("250 queued")).await;
    assert_eq!(place.store.recover().await.unwrap().settled.len(), 1);
    assert_eq!(place.worker_files().len(), 0);
}
