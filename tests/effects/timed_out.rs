//! Calls that time out: their caller stops waiting, and they continue.

use machine::contract::LateCall;
use machine_tests::service::Holder;
use tokio::task::JoinHandle;

use crate::effects::prelude::*;

on_file! {
    a_late_receipt_that_cannot_be_written_is_in_the_error,
    a_late_call_that_is_dropped_has_ended,
    a_late_call_that_is_dropped_is_cut_off,
    a_batch_hands_out_the_late_call_too,
    an_idempotent_call_without_an_answer_has_failed,
}

pub(super) fn hasty(contract: Contract) -> Contract {
    contract.timeout_after(Duration::from_millis(20))
}

/// A call that timed out and is held back.
async fn timed_out(store: &Store, pending: Execution<Pending>) -> (InDoubt, LateCall, Holder) {
    let (service, mut holder) = held_back();
    let settled = store.perform::<Action>(pending, service, tool_node()).await.unwrap();
    holder.started().await;
    let Settled::TimedOut(doubt, late) = settled else { panic!("{settled:?}") };
    (doubt, late, holder)
}

async fn hasty_mail(place: &Place) -> (InDoubt, LateCall, Holder) {
    timed_out(&place.store, place.stored(hasty(mail("bob"))).await).await
}

type Late = JoinHandle<Result<Evidence, Box<dyn std::error::Error + Send + Sync>>>;

pub(super) async fn end(late: Late, holder: Holder, answer: Answer) -> Evidence {
    holder.answer(answer);
    late.await.unwrap().unwrap()
}

/// Then the program can still tell a person.
async fn a_late_receipt_that_cannot_be_written_is_in_the_error(place: Place) {
    let (_doubt, late, holder) = hasty_mail(&place).await;
    place.store.close().await.unwrap();
    let late = tokio::spawn(late);
    holder.answer(receipt("250 queued as 4711"));
    let error = late.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("250 queued as 4711") && error.contains("not on disk"), "{error}");
}

/// A person need not wait for a worker that is known to have ended, and the question forgets it.
async fn a_late_call_that_is_dropped_has_ended(place: Place) {
    for is_found_first in [false, true] {
        let (mut doubt, late, _holder) = hasty_mail(&place).await;
        drop(late);
        if is_found_first {
            doubt = place.doubt().await;
            let question = doubt.question();
            assert!(!question.contains("running"), "{question}");
            assert!(question.contains("It is in doubt: no answer in time"), "{question}");
        }
        let _ = place.deny(doubt).await;
        assert_eq!(place.recovered().await.len(), 0);
    }
}

/// A late call of a service that may have started something: only the end of the process, evidence
/// or a named person ends it.
async fn a_late_call_that_is_dropped_is_cut_off(place: Place) {
    let service = service_fn(|_: &Call<Action>| Box::pin(std::future::pending()));
    let settled = place.performed(hasty(mail("bob")), service).await;
    let Settled::TimedOut(doubt, late) = settled else { panic!("{settled:?}") };
    let id = doubt.id();
    drop(late);
    let refused = place.store.confirm_not_applied(doubt, "nothing there", ann()).await;
    let refused = refused.unwrap_err();
    assert_is!(&refused.reason, EffectError::CutOff { id: of, .. } if *of == id);
    let process = format!("in process {} on ", std::process::id());
    assert!(refused.reason.to_string().contains(&process), "{}", refused.reason);
    let facts = place.facts(id).await;
    assert_is!(facts.last(), Some(CallFact::CutOff { .. }));
    let doubt = place.doubt().await;
    let question = doubt.question();
    assert!(question.contains("was cut off in process "), "{question}");
    let _ = place.overrule(refused.machine).await;
}

async fn a_batch_hands_out_the_late_call_too(place: Place) {
    let (running, permit) = place.begun(hasty(mail("bob"))).await;
    let (service, mut holder) = held_back();
    let outcome = permit.call(service).await;
    holder.started().await;
    let id = running.id();
    let mut settle = Change::settle(running, outcome, tool_node());
    place.store.batch().change(&mut settle).write().await.unwrap();
    let Ok(Settled::TimedOut(_doubt, late)) = settle.finish() else { panic!("it goes on") };
    end(tokio::spawn(late), holder, receipt("250 queued")).await;
    place.is_completed_late(id, "250 queued").await;
}

/// It can simply be called again.
async fn an_idempotent_call_without_an_answer_has_failed(place: Place) {
    let (service, _holder) = held_back();
    let settled = place.performed(hasty(read("a.txt")), service).await;
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "no answer in time");
    assert_eq!(place.recovered().await.len(), 0);
}

/// The program has dropped its store: the call keeps its worker alive until its answer is on disk.
#[tokio::test]
async fn a_late_call_outlives_the_store() {
    let place = Place::new().await;
    let id = place.stored(hasty(mail("bob"))).await.id();
    let worker = place.open_again().await;
    let (_doubt, late, holder) = timed_out(&worker, pending(&worker, id).await).await;
    let late = tokio::spawn(late);
    drop(worker);
    let (_, refused) = place.refuses_denial(place.doubt().await).await;
    assert_is!(refused, EffectError::WorkerAlive { .. });
    end(late, holder, receipt("250 queued")).await;
    place.is_completed_late(id, "250 queued").await;
    assert_eq!(place.worker_files().len(), 0);
}
