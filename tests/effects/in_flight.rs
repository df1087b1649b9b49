//! Calls whose future is not all there is of them.

use std::{path::PathBuf, sync::Mutex};

use machine::contract;
use machine_tests::process::{self, Process, orders, say};
use tokio::sync::oneshot;

use crate::effects::prelude::*;

on_file! {
    a_guard_keeps_a_call_alive_that_has_returned,
    a_refusal_counts_when_the_last_guard_is_gone,
    a_refusal_of_a_part_does_not_overrule_what_another_does_not_know,
    a_receipt_outranks_the_refusal_of_the_future,
    a_refusal_of_a_part_does_not_end_what_was_cut_off,
    a_receipt_comes_before_the_caller_has_stopped_waiting,
}

type Guard = contract::InFlight<Action>;

type Answers = Box<dyn FnOnce() -> ToolAnswer<Action> + Send>;

/// Hands out a guard, and then answers; without an answer it hangs.
pub(super) struct Service<const CONFINED: bool> {
    guard: Mutex<Option<oneshot::Sender<Guard>>>,
    answer: Mutex<Option<Answers>>,
}

impl<const CONFINED: bool> Perform<Action> for Service<CONFINED> {
    const CONFINED: bool = CONFINED;

    async fn perform(&self, call: &Call<Action>) -> ToolAnswer<Action> {
        let guard = self.guard.lock().unwrap().take().unwrap();
        // Dropping the result must be possible.
        drop(guard.send(call.in_flight()));
        let answer = self.answer.lock().unwrap().take();
        match answer {
            Some(answer) => answer(),
            None => std::future::pending().await,
        }
    }
}

pub(super) fn service<const CONFINED: bool>(
    answer: Option<Answers>,
) -> (Service<CONFINED>, oneshot::Receiver<Guard>) {
    let (guard, handed_out) = oneshot::channel();
    let service = Service { guard: Mutex::new(Some(guard)), answer: Mutex::new(answer) };
    (service, handed_out)
}

/// Performs a mail whose service answers so, which leaves a doubt. Returns it, and the guard.
pub(super) async fn performed<const CONFINED: bool>(
    place: &Place,
    answer: impl FnOnce() -> ToolAnswer<Action> + Send + 'static,
) -> (InDoubt, Guard) {
    let (service, guard) = service::<CONFINED>(Some(Box::new(answer)));
    match place.performed(mail("bob"), service).await {
        Settled::InDoubt(doubt) => (doubt, guard.await.unwrap()),
        other => panic!("expected a doubt, found {other:?}"),
    }
}

/// Performs a mail whose future is dropped while its service hangs.
async fn dropped<const CONFINED: bool>(store: &Store, id: Id) -> Guard {
    let (service, guard) = service::<CONFINED>(None);
    let planned = store.planned::<Action>(id).await.unwrap();
    tokio::select! {
        settled = store.perform(planned, service, tool_node()) => panic!("{settled:?}"),
        guard = guard => guard.unwrap(),
    }
}

pub(super) fn lost() -> ToolAnswer<Action> {
    Err(NoReceipt::unknown("no reply"))
}

fn refuses() -> ToolAnswer<Action> {
    Err(NoReceipt::not_applied("the box is full"))
}

pub(super) fn still_running() -> ToolAnswer<Action> {
    Err(NoReceipt::StillRunning("the queue has it".to_owned()))
}

pub(super) fn panics() -> ToolAnswer<Action> {
    std::panic::resume_unwind(Box::new("as the test says"))
}

/// "Not applied" is refused. That may be noticed, and recorded, only now.
async fn refused(place: &Place, doubt: InDoubt) -> (InDoubt, EffectError) {
    let refused = place.store.confirm_not_applied(doubt, "not there", ann()).await.unwrap_err();
    (refused.machine, refused.reason)
}

pub(super) async fn is_cut_off(place: &Place, doubt: InDoubt) -> InDoubt {
    let (doubt, reason) = refused(place, doubt).await;
    assert_is!(reason, EffectError::CutOff { .. });
    doubt
}

async fn a_guard_keeps_a_call_alive_that_has_returned(place: Place) {
    let (doubt, guard) = performed::<false>(&place, lost).await;
    let (doubt, reason) = refused(&place, doubt).await;
    assert_is!(reason, EffectError::WorkerAlive { .. });
    let another = guard.clone();
    drop(guard);
    let (doubt, reason) = refused(&place, doubt).await;
    assert_is!(reason, EffectError::WorkerAlive { .. });
    drop(another);
    let _ = place.deny(doubt).await;
}

/// Until then the rest of the call could still do it.
async fn a_refusal_counts_when_the_last_guard_is_gone(place: Place) {
    let (doubt, guard) = performed::<false>(&place, refuses).await;
    assert!(doubt.question().contains("still running although"), "{}", doubt.question());
    assert_is!(refused(&place, doubt).await.1, EffectError::WorkerAlive { .. });
    assert!(place.store.recover().await.unwrap().settled.is_empty());
    drop(guard);
    assert_is!(place.settled_late().await,
        AnyExecution::Failed(failed) if failed.state().error == "the box is full");
}

/// One part of the call refuses through its guard. Another one, which may have paid, does not know,
/// or cannot say.
async fn a_refusal_of_a_part_does_not_overrule_what_another_does_not_know(place: Place) {
    let stays_in_doubt = async |id| {
        let _ = place.store.fence(id, "no answer", graph_runner()).await;
        let recovered = place.store.recover().await.unwrap();
        assert!(recovered.settled.is_empty(), "{recovered:?}");
        let doubt = recovered.in_doubt.into_iter().find(|doubt| doubt.id() == id);
        let _ = place.overrule(doubt.unwrap()).await;
    };
    // The future says so, before the guard and after it.
    let (doubt, guard) = performed::<false>(&place, lost).await;
    guard.answer(refuses());
    stays_in_doubt(doubt.id()).await;

    // A future of a confined service was dropped.
    let id = place.stored(mail("carol")).await.id();
    dropped::<true>(&place.store, id).await.answer(refuses());
    stays_in_doubt(id).await;

    // A guard ends by a panic.
    let (doubt, guard) = performed::<false>(&place, refuses).await;
    let panicked = std::thread::spawn(move || {
        let _guard = guard;
        std::panic::resume_unwind(Box::new("after the payment"))
    });
    assert!(panicked.join().is_err());
    stays_in_doubt(doubt.id()).await;
}

async fn a_receipt_outranks_the_refusal_of_the_future(place: Place) {
    let (doubt, guard) = performed::<false>(&place, refuses).await;
    guard.answer(receipt("250 queued"));
    place.is_completed_late(doubt.id(), "250 queued").await;
}

/// Another part may still do it.
async fn a_refusal_of_a_part_does_not_end_what_was_cut_off(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    dropped::<false>(&place.store, id).await.answer(refuses());
    assert!(place.store.recover().await.unwrap().settled.is_empty());
    let _ = is_cut_off(&place, place.store.in_doubt(id).await.unwrap()).await;

    for answer in [still_running, panics] {
        let place = place.another().await;
        let (doubt, guard) = performed::<false>(&place, answer).await;
        guard.answer(refuses());
        assert!(place.store.recover().await.unwrap().settled.is_empty());
        let _ = is_cut_off(&place, doubt).await;
    }
}

/// A receipt that this process has, and could not write yet, outranks a person.
#[tokio::test]
async fn a_receipt_being_written_cannot_be_denied() {
    for override_it in [false, true] {
        let place = Place::new().await;
        let (doubt, guard) = performed::<true>(&place, lost).await;
        let id = doubt.id();
        let raw = place.raw();
        raw.execute_batch("BEGIN IMMEDIATE").unwrap();
        guard.answer(receipt("250 queued"));
        raw.execute_batch("COMMIT").unwrap();
        let denied = if override_it {
            place.store.override_not_applied(doubt, "nothing there", ann()).await
        } else {
            place.store.confirm_not_applied(doubt, "nothing there", ann()).await
        };
        assert!(denied.is_err(), "it was denied");
        place.is_completed_late(id, "250 queued").await;
    }
}

/// The reply got lost on its way back; the future has to answer, and gives the best answer that
/// there is.
async fn a_receipt_comes_before_the_caller_has_stopped_waiting(place: Place) {
    let (answered, is_answered) = std::sync::mpsc::channel();
    let (service, guard) = service::<false>(Some(Box::new(move || {
        is_answered.recv().unwrap();
        lost()
    })));
    let thread = std::thread::spawn(move || {
        guard.blocking_recv().unwrap().answer(receipt("250 queued"));
        answered.send(()).unwrap();
    });
    assert_is!(place.performed(mail("bob"), service).await,
        Settled::Completed(done) if done.state().result == "250 queued");
    thread.join().unwrap();
}

/// The answer of a guard is on disk once the store is closed, though its future is gone. The last
/// handle of the program is gone, or an outcome is dropped after it: what they bring is written all
/// the same.
#[tokio::test]
async fn a_guard_and_an_outcome_keep_the_store_open() {
    let worker = async |place: &Place| {
        let id = place.stored(mail("bob")).await.id();
        (id, place.open_again().await)
    };
    let place = Place::new().await;
    let (id, store) = worker(&place).await;
    let guard = dropped::<false>(&store, id).await;
    drop(store);
    guard.answer(receipt("250 queued"));
    place.is_completed_late(id, "250 queued").await;

    let place = Place::new().await;
    let (id, store) = worker(&place).await;
    let (_running, permit) = begin(&store, pending(&store, id).await).await.unwrap();
    let outcome = applied(permit, "250 queued").await;
    drop(store);
    drop(outcome);
    place.is_completed_late(id, "250 queued").await;

    for _ in 0..20 {
        let place = Place::new().await;
        let (id, store) = worker(&place).await;
        dropped::<false>(&store, id).await.answer(receipt("250 queued"));
        store.close().await.unwrap();
        drop(store);
        let _ = place.store.fence(id, "no answer", graph_runner()).await;
        place.is_completed_late(id, "250 queued").await;
    }
}

/// The lock of a store that was dropped stays with the process, as long as a call of it may be
/// running.
#[tokio::test]
async fn a_store_that_is_dropped_or_closed_does_not_end_what_it_cut_off() {
    for close in [false, true] {
        let place = Place::new().await;
        let id = place.stored(mail("bob")).await.id();
        let worker = place.open_again().await;
        drop(dropped::<false>(&worker, id).await);
        if close {
            worker.close().await.unwrap();
        }
        drop(worker);
        let _ = place.store.fence(id, "no answer", graph_runner()).await;
        let (_, reason) = refused(&place, place.doubt().await).await;
        assert_is!(reason, EffectError::WorkerAlive { .. });
        assert_eq!(place.worker_files().len(), 1);
    }
}

/// A child process that has the lock is a part of its parent: the end of the parent alone proves
/// nothing.
#[tokio::test]
async fn a_child_process_with_the_lock_keeps_the_call_alive() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut other = Process::start("effects::in_flight::lends_its_lock", &(place.file(), id));
    let grandchild: u32 = other.hear();
    other.kill();
    let _ = place.store.fence(id, "no answer", graph_runner()).await;
    let (mut doubt, reason) = refused(&place, place.doubt().await).await;
    assert_is!(reason, EffectError::WorkerAlive { .. });

    process::kill(grandchild);
    // The system releases the lock a moment after the signal.
    while let Err(refused) = place.store.confirm_not_applied(doubt, "nothing", ann()).await {
        doubt = refused.machine;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn lends_its_lock() {
    let (file, id): (PathBuf, Id) = orders();
    let store = Store::sqlite(&file).await.unwrap();
    let (_running, permit) = begin(&store, pending(&store, id).await).await.unwrap();
    let (service, guard) = service::<false>(None);
    tokio::spawn(permit.call(service));
    let lock = guard.await.unwrap().lock().unwrap().unwrap();
    let mut parks = process::command("store::child::parks", &());
    let grandchild = parks.stdin(lock).stdout(std::process::Stdio::null());
    let mut grandchild = grandchild.stderr(std::process::Stdio::null()).spawn().unwrap();
    say(&grandchild.id());
    // It is killed before.
    grandchild.wait().unwrap();
}
