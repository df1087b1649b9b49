//! Calls whose future is not all there is of them.

use std::sync::Mutex;

use machine::{
    Id,
    contract::{
        Action, Answer, AnyExecution, Applied, Call, CallFact, Evidence, InDoubt, InFlight,
        Liveness, NotDone, Perform, Settled, execution::Status,
    },
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::mail,
};
use tokio::sync::oneshot;

use crate::store::{
    child::{self, Other},
    service::receipt,
    support::{Place, begin, on_both, pending},
};

on_both! {
    a_guard_keeps_a_call_alive_that_has_returned,
    a_refusal_counts_when_the_last_guard_is_gone,
    a_refusal_of_a_part_does_not_overrule_what_another_does_not_know,
    a_receipt_outranks_the_refusal_of_the_future,
    a_refusal_of_a_part_does_not_end_what_was_cut_off,
    a_guard_can_say_that_something_is_still_running,
    an_answer_through_a_guard_counts_after_the_future_is_gone,
    a_receipt_comes_before_the_caller_has_stopped_waiting,
    a_service_that_says_so_is_still_running,
    a_wait_that_was_given_up_is_cut_off,
    a_task_that_failed_is_cut_off,
    a_panic_is_cut_off,
    a_permit_that_is_dropped_has_ended,
}

/// Hands out a guard, and then answers; without an answer it hangs.
struct Service<const CONFINED: bool> {
    guard: Mutex<Option<oneshot::Sender<InFlight<Action>>>>,
    answer: Mutex<Option<Box<dyn FnOnce() -> Answer + Send>>>,
}

impl<const CONFINED: bool> Perform<Action> for Service<CONFINED> {
    const CONFINED: bool = CONFINED;

    async fn perform(&self, call: &Call<Action>) -> Answer {
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

type Guard = oneshot::Receiver<InFlight<Action>>;

fn service<const CONFINED: bool>(
    answer: Option<Box<dyn FnOnce() -> Answer + Send>>,
) -> (Service<CONFINED>, Guard) {
    let (guard, handed_out) = oneshot::channel();
    let service = Service { guard: Mutex::new(Some(guard)), answer: Mutex::new(answer) };
    (service, handed_out)
}

/// Performs a mail whose service answers so. Returns what was settled, and the guard.
async fn performed<const CONFINED: bool>(
    place: &Place,
    answer: impl FnOnce() -> Answer + Send + 'static,
) -> (Settled, InFlight<Action>) {
    let (service, guard) = service::<CONFINED>(Some(Box::new(answer)));
    let pending = place.stored(mail("bob")).await;
    let settled = place.store.perform::<Action>(pending, service, tool_node()).await.unwrap();
    (settled, guard.await.unwrap())
}

/// Performs a mail whose future is dropped while its service hangs.
async fn dropped(store: &Store, id: Id) -> InFlight<Action> {
    let (service, guard) = service::<false>(None);
    let planned = store.planned::<Action>(id).await.unwrap();
    tokio::select! {
        settled = store.perform(planned, service, tool_node()) => panic!("{settled:?}"),
        guard = guard => guard.unwrap(),
    }
}

fn in_doubt(settled: Settled) -> InDoubt {
    match settled {
        Settled::InDoubt(doubt) => doubt,
        other => panic!("{other:?}"),
    }
}

/// "Not applied" is refused.
async fn refused(store: &Store, doubt: InDoubt) -> (InDoubt, CommitError) {
    let refused = store.confirm_not_applied(doubt, "nothing there", ann()).await.unwrap_err();
    (refused.machine, refused.reason)
}

/// The end of the only execution that `recover` settles by late evidence.
async fn settled_late(store: &Store) -> AnyExecution {
    loop {
        // Answers through a guard are written in the background.
        if let Some(settled) = store.recover().await.unwrap().settled.pop() {
            return settled;
        }
        tokio::task::yield_now().await;
    }
}

async fn a_guard_keeps_a_call_alive_that_has_returned(place: Place) {
    let (settled, guard) = performed::<false>(&place, || Err(NotDone::unknown("no reply"))).await;
    let (doubt, reason) = refused(&place.store, in_doubt(settled)).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { .. });
    let another = guard.clone();
    drop(guard);
    let (doubt, reason) = refused(&place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { .. });
    drop(another);
    let _ = place.store.confirm_not_applied(doubt, "nothing there", ann()).await.unwrap();
}

/// Until then the rest of the call could still do it.
async fn a_refusal_counts_when_the_last_guard_is_gone(place: Place) {
    let (settled, guard) =
        performed::<false>(&place, || Err(NotDone::not_applied("the box is full"))).await;
    let doubt = in_doubt(settled);
    assert!(doubt.question().contains("still running, although"), "{}", doubt.question());
    let (_, reason) = refused(&place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { .. });
    assert!(place.store.recover().await.unwrap().settled.is_empty());
    drop(guard);
    match settled_late(&place.store).await {
        AnyExecution::Failed(failed) => assert_eq!(failed.state().error, "the box is full"),
        other => panic!("{other:?}"),
    }
}

/// One part of the call refuses through its guard. Another one, which may have paid, does not know, or cannot say.
async fn a_refusal_of_a_part_does_not_overrule_what_another_does_not_know(place: Place) {
    async fn stays_in_doubt(place: &Place, id: Id) {
        let _ = place.store.fence(id, "no answer", machine_tests::actors::graph_runner()).await;
        let recovered = place.store.recover().await.unwrap();
        assert!(recovered.settled.is_empty(), "{recovered:?}");
        assert!(recovered.in_doubt.iter().any(|doubt| doubt.execution().id() == id));
    }
    let refuses = || Err(NotDone::not_applied("the box is full"));

    // The future says so, before the guard and after it.
    let (settled, guard) = performed::<false>(&place, || Err(NotDone::unknown("no reply"))).await;
    guard.answer(refuses());
    stays_in_doubt(&place, in_doubt(settled).execution().id()).await;

    // A future of a confined service was dropped.
    let id = place.stored(mail("carol")).await.id();
    let (service, guard) = service::<true>(None);
    let planned = place.store.planned::<Action>(id).await.unwrap();
    let guard = tokio::select! {
        settled = place.store.perform(planned, service, tool_node()) => panic!("{settled:?}"),
        guard = guard => guard.unwrap(),
    };
    guard.answer(refuses());
    stays_in_doubt(&place, id).await;

    // A guard ends by a panic.
    let (service, guard) = self::service::<false>(Some(Box::new(refuses)));
    let pending = place.stored(mail("dora")).await;
    let id = pending.id();
    let settled = place.store.perform::<Action>(pending, service, tool_node()).await.unwrap();
    let guard = guard.await.unwrap();
    let panicked = std::thread::spawn(move || {
        let _guard = guard;
        std::panic::resume_unwind(Box::new("after the payment"))
    });
    assert!(panicked.join().is_err());
    let _ = in_doubt(settled);
    stays_in_doubt(&place, id).await;
}

/// The answer of a guard is on disk once the store is closed, though its future is gone.
#[tokio::test]
async fn closing_a_store_writes_what_a_guard_has_answered() {
    for _ in 0..20 {
        let place = Place::new().await;
        let id = place.stored(mail("bob")).await.id();
        let worker = place.open_again().await;
        dropped(&worker, id).await.answer(receipt("250 queued"));
        worker.close().await.unwrap();
        drop(worker);
        let _ = place.store.fence(id, "no answer", machine_tests::actors::graph_runner()).await;
        match settled_late(&place.store).await {
            AnyExecution::Completed(done) => assert_eq!(done.id(), id),
            other => panic!("{other:?}"),
        }
    }
}

async fn a_receipt_outranks_the_refusal_of_the_future(place: Place) {
    let (settled, guard) =
        performed::<false>(&place, || Err(NotDone::not_applied("the box is full"))).await;
    let _ = in_doubt(settled);
    guard.answer(receipt("250 queued"));
    match settled_late(&place.store).await {
        AnyExecution::Completed(done) => assert_eq!(done.state().result, "250 queued"),
        other => panic!("{other:?}"),
    }
}

/// Another part may still do it.
async fn a_refusal_of_a_part_does_not_end_what_was_cut_off(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let guard = dropped(&place.store, id).await;
    guard.answer(Err(NotDone::not_applied("the box is full")));
    assert!(place.store.recover().await.unwrap().settled.is_empty());
    let doubt = place.store.in_doubt(id).await.unwrap();
    let (_, reason) = refused(&place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::CutOff { .. });

    for answer in [(|| Err(NotDone::still_running("the queue has it"))) as fn() -> Answer, || {
        std::panic::resume_unwind(Box::new("as the test says"))
    }] {
        let place = place.another().await;
        let (settled, guard) = performed::<false>(&place, answer).await;
        guard.answer(Err(NotDone::not_applied("the box is full")));
        assert!(place.store.recover().await.unwrap().settled.is_empty());
        let (_, reason) = refused(&place.store, in_doubt(settled)).await;
        assert_err!(Err::<(), _>(reason), CommitError::CutOff { .. });
    }
}

async fn a_guard_can_say_that_something_is_still_running(place: Place) {
    let (settled, guard) =
        performed::<true>(&place, || Err(NotDone::unknown("the guard will tell"))).await;
    guard.answer(Err(NotDone::still_running("the queue has it")));
    let (_, reason) = refused(&place.store, in_doubt(settled)).await;
    assert_err!(Err::<(), _>(reason), CommitError::CutOff { .. });
}

/// A receipt that this process has, and could not write yet, outranks a person.
#[tokio::test]
async fn nobody_denies_a_receipt_that_is_about_to_be_written() {
    let place = Place::new().await;
    for override_it in [false, true] {
        let place = place.another().await;
        let (settled, guard) =
            performed::<true>(&place, || Err(NotDone::unknown("no reply"))).await;
        let doubt = in_doubt(settled);
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
        assert!(matches!(settled_late(&place.store).await, AnyExecution::Completed(_)));
    }
}

/// Whoever drops an outcome after the store.
#[tokio::test]
async fn an_outcome_keeps_the_store_open() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let worker = place.open_again().await;
    let (_running, permit) = begin(&worker, pending(&worker, id).await).await.unwrap();
    let outcome = crate::store::support::applied(permit, "250 queued").await;
    drop(worker);
    drop(outcome);
    assert!(matches!(settled_late(&place.store).await, AnyExecution::Completed(_)));
}

async fn an_answer_through_a_guard_counts_after_the_future_is_gone(place: Place) {
    let id = place.stored(mail("bob")).await.id();
    let guard = dropped(&place.store, id).await;
    assert_eq!(place.status(id).await, Status::Running);
    guard.answer(receipt("250 queued"));
    match settled_late(&place.store).await {
        AnyExecution::Completed(done) => assert_eq!(done.state().result, "250 queued"),
        other => panic!("{other:?}"),
    }
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Hands out a guard, and loses the reply.
struct Lossy {
    guard: Mutex<Option<oneshot::Sender<InFlight<Action>>>>,
    is_answered: Mutex<Option<oneshot::Receiver<()>>>,
}

impl Perform<Action> for Lossy {
    async fn perform(&self, call: &Call<Action>) -> Answer {
        self.guard.lock().unwrap().take().unwrap().send(call.in_flight()).unwrap();
        let is_answered = self.is_answered.lock().unwrap().take().unwrap();
        is_answered.await?;
        Err(NotDone::unknown("the reply got lost on its way back"))
    }
}

/// The future has to answer, and gives the best answer that there is.
async fn a_receipt_comes_before_the_caller_has_stopped_waiting(place: Place) {
    let (guard, handed_out) = oneshot::channel::<InFlight<Action>>();
    let (answered, is_answered) = oneshot::channel();
    let thread = std::thread::spawn(move || {
        handed_out.blocking_recv().unwrap().answer(Ok(Applied::new("250 queued")));
        answered.send(()).unwrap();
    });
    let pending = place.stored(mail("bob")).await;
    let service =
        Lossy { guard: Mutex::new(Some(guard)), is_answered: Mutex::new(Some(is_answered)) };
    match place.store.perform::<Action>(pending, service, tool_node()).await.unwrap() {
        Settled::Completed(done) => assert_eq!(done.state().result, "250 queued"),
        other => panic!("{other:?}"),
    }
    thread.join().unwrap();
}

/// Checks how it was parked and how a person is refused, for a service that is confined and for one that is not.
async fn is_cut_off(place: &Place, answer: fn() -> Answer, even_if_confined: bool) {
    let (settled, guard) = performed::<false>(place, answer).await;
    drop(guard);
    let doubt = in_doubt(settled);
    assert_parked(place, doubt.execution().id(), Liveness::CutOff).await;
    let (doubt, reason) = refused(&place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::CutOff { .. });
    let _ = place.store.confirm_applied(doubt, "bob has it", ann()).await.unwrap();

    let place = place.another().await;
    let (settled, guard) = performed::<true>(&place, answer).await;
    drop(guard);
    let doubt = in_doubt(settled);
    if even_if_confined {
        let (_, reason) = refused(&place.store, doubt).await;
        assert_err!(Err::<(), _>(reason), CommitError::CutOff { .. });
    } else {
        let _ = place.store.confirm_not_applied(doubt, "nothing there", ann()).await.unwrap();
    }
}

async fn assert_parked(place: &Place, id: Id, as_what: Liveness) {
    let facts = place.facts(id).await;
    let parked = facts.iter().find_map(|fact| match fact {
        CallFact::Parked { worker, .. } => Some(*worker),
        _ => None,
    });
    assert_eq!(parked, Some(as_what), "{facts:?}");
}

async fn a_service_that_says_so_is_still_running(place: Place) {
    is_cut_off(&place, || Err(NotDone::still_running("the queue has it")), true).await;
}

async fn a_wait_that_was_given_up_is_cut_off(place: Place) {
    fn elapsed() -> tokio::time::error::Elapsed {
        on_another_runtime(async {
            let never = std::future::pending::<()>();
            tokio::time::timeout(std::time::Duration::ZERO, never).await.unwrap_err()
        })
    }
    is_cut_off(&place, || Err(elapsed())?, false).await;
    // The timeout, converted through other errors.
    is_cut_off(&place.another().await, || Err(std::io::Error::from(elapsed()))?, false).await;
    is_cut_off(&place.another().await, || Err(std::io::Error::other(elapsed()))?, false).await;
    let nested = || Err(Wrapped(Box::new(std::io::Error::other(elapsed()))))?;
    is_cut_off(&place.another().await, nested, false).await;
    // Pointers hand on the source of the error and not the error.
    let shared = || Err(Wrapped(Box::new(std::sync::Arc::new(elapsed()))))?;
    is_cut_off(&place.another().await, shared, false).await;
    let boxed = || Err(Wrapped(Box::new(Box::new(elapsed()))))?;
    is_cut_off(&place.another().await, boxed, false).await;
}

async fn a_task_that_failed_is_cut_off(place: Place) {
    fn join_error() -> tokio::task::JoinError {
        on_another_runtime(async {
            let task = tokio::spawn(std::future::pending::<()>());
            task.abort();
            task.await.unwrap_err()
        })
    }
    is_cut_off(&place, || Err(join_error())?, false).await;
    is_cut_off(&place.another().await, || Err(Wrapped(Box::new(join_error())))?, false).await;
}

/// Waits in a place that is not asynchronous.
fn on_another_runtime<T: Send>(future: impl Future<Output = T> + Send) -> T {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(future)
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

/// An error with a cause.
#[derive(Debug)]
struct Wrapped(Box<dyn std::error::Error + Send + Sync>);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the bank client failed")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// An error of the system, such as a connection that timed out, has ended.
#[tokio::test]
async fn an_error_of_the_system_is_no_cut() {
    let place = Place::new().await;
    let errors: [fn() -> Answer; 3] = [
        || Err(std::io::Error::from_raw_os_error(110))?,
        || Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "connection timed out"))?,
        || Err(std::io::Error::other("connection reset"))?,
    ];
    for error in errors {
        let (service, guard) = service::<false>(Some(Box::new(error)));
        drop(guard);
        let pending = place.stored(mail("bob")).await;
        let performed = place.store.perform::<Action>(pending, service, tool_node()).await;
        let doubt = in_doubt(performed.unwrap());
        assert_parked(&place, doubt.execution().id(), Liveness::Ended).await;
        let _ = place.store.confirm_not_applied(doubt, "nothing there", ann()).await.unwrap();
    }
}

async fn a_panic_is_cut_off(place: Place) {
    is_cut_off(&place, || std::panic::resume_unwind(Box::new("as the test says")), false).await;
}

async fn a_permit_that_is_dropped_has_ended(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    drop(permit);
    let doubt = place.recovered().await.pop().unwrap();
    assert_parked(&place, running.id(), Liveness::Ended).await;
    let _ = place.store.confirm_not_applied(doubt, "nothing there", ann()).await.unwrap();
}

/// The last handle of the program is gone; what its thread brings is written all the same.
#[tokio::test]
async fn a_guard_keeps_the_store_open() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let worker = place.open_again().await;
    let guard = dropped(&worker, id).await;
    drop(worker);
    guard.answer(receipt("250 queued"));
    match settled_late(&place.store).await {
        AnyExecution::Completed(done) => assert_eq!(done.id(), id),
        other => panic!("{other:?}"),
    }
}

/// The lock of a store that was dropped stays with the process, as long as a call of it may be running.
#[tokio::test]
async fn a_store_that_is_dropped_or_closed_does_not_end_what_it_cut_off() {
    for close in [false, true] {
        let place = Place::new().await;
        let id = place.stored(mail("bob")).await.id();
        let worker = place.open_again().await;
        drop(dropped(&worker, id).await);
        if close {
            worker.close().await.unwrap();
        }
        drop(worker);
        let _ = place.store.fence(id, "no answer", machine_tests::actors::graph_runner()).await;
        let doubt = place.recovered().await.pop().unwrap();
        let (_, reason) = refused(&place.store, doubt).await;
        assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { .. });
        assert_eq!(place.worker_files().len(), 1);
    }
}

/// A child process that has the lock is a part of its parent: the end of the parent alone proves nothing.
#[tokio::test]
async fn a_child_process_with_the_lock_keeps_the_call_alive() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let mut other = Other::start("effects::in_flight::lends_its_lock", &place.file(), &[id]);
    let grandchild: u32 = other.wait_for("lent to").parse().unwrap();
    other.kill();
    let _ = place.store.fence(id, "no answer", machine_tests::actors::graph_runner()).await;
    let doubt = place.recovered().await.pop().unwrap();
    let (doubt, reason) = refused(&place.store, doubt).await;
    assert_err!(Err::<(), _>(reason), CommitError::WorkerAlive { .. });

    child::kill(grandchild);
    // The system releases the lock a moment after the signal.
    let mut doubt = Some(doubt);
    loop {
        let denied = place.store.confirm_not_applied(doubt.take().unwrap(), "nothing", ann()).await;
        match denied {
            Ok(_) => break,
            Err(refused) => doubt = Some(refused.machine),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn lends_its_lock() {
    let (file, ids) = child::given();
    let store = Store::sqlite(&file).await.unwrap();
    let (_running, permit) = begin(&store, pending(&store, ids[0]).await).await.unwrap();
    let (service, guard) = service::<false>(None);
    tokio::spawn(permit.call(service));
    let lock = guard.await.unwrap().lock().unwrap().unwrap();
    let mut parks = child::command(&std::env::current_exe().unwrap(), "store::child::parks", &file);
    let grandchild = parks.stdin(lock).stdout(std::process::Stdio::null());
    let mut grandchild = grandchild.stderr(std::process::Stdio::null()).spawn().unwrap();
    child::say(&format!("lent to {}", grandchild.id()));
    // It is killed before.
    grandchild.wait().unwrap();
}

/// The evidence of a call that was cut off is of its epoch.
#[tokio::test]
async fn an_answer_after_a_fence_is_late_evidence() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    let guard = dropped(&place.store, id).await;
    let [doubt] = &place.recovered().await[..] else { panic!("it is in doubt") };
    assert_eq!(doubt.progress().worker(), Liveness::CutOff);
    guard.answer(receipt("250 queued"));
    let _ = settled_late(&place.store).await;
    let late = CallFact::Evidence {
        epoch: 0,
        evidence: Evidence::Applied("250 queued".to_owned()),
        late: true,
    };
    assert!(place.facts(id).await.contains(&late));
}
