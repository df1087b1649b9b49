//! The writer waits for locks, of other processes and of its own store.

use std::{
    sync::{atomic::AtomicBool, mpsc},
    task::{Context, Poll, Waker},
    thread::sleep,
};

use super::*;
use crate::store::sqlite::{
    checkpoint::{CheckpointState, Checkpoints},
    connection::{self, Role},
    group::{Group, WriteOutcome, left_ms},
    inode::Files,
    schema::FORMAT,
};

/// The time in which a test sees that nothing happens. If that is too short, it sees less.
const IN_VAIN: Duration = Duration::from_millis(100);

/// A group that does not wait for other processes.
fn impatient(place: &Place, state: &Arc<CheckpointState>) -> Group {
    let path = place.path();
    let connection = connection::open(&path, Role::Writer, 0).unwrap();
    let at_once = StoreSettings { busy_ms: 0, ..settings() };
    let (files, state) = (Files::at(&path), Arc::clone(state));
    Group::new(path, files, at_once, connection, Box::new(|_| Ok(())), state).unwrap()
}

fn commit(group: &mut Group) -> WriteOutcome {
    group.run(&[(&batch(vec![Machine::execution().write(1)]), Instant::now())])?.remove(0)
}

#[test]
fn attempt_is_repeated_after_the_truncation_of_the_same_store() {
    let state = CheckpointState::default();
    let is_free = AtomicBool::new(false);
    let (trying, tried) = mpsc::channel();
    std::thread::scope(|scope| {
        let truncating = state.truncating.lock().unwrap();
        let writer = scope.spawn(|| {
            state.retry_after_truncation(|| {
                let got = is_free.load(Ordering::SeqCst);
                trying.send(got).unwrap();
                let busy = ffi::Error::new(ffi::SQLITE_BUSY);
                if got { Ok(()) } else { Err(rusqlite::Error::SqliteFailure(busy, None)) }
            })
        });
        assert!(!tried.recv_timeout(STUCK).unwrap());
        is_free.store(true, Ordering::SeqCst);
        drop(truncating);
        writer.join().unwrap().unwrap();
        assert!(tried.recv_timeout(STUCK).unwrap());
    });
}

/// The own truncation is no other process: also without a busy timeout, the writer waits for it.
#[test]
fn writer_waits_for_the_truncation_of_its_own_store() {
    let (place, _store) = Place::opened();
    let state = Arc::<CheckpointState>::default();
    let mut group = impatient(&place, &state);
    let raw = place.raw();
    std::thread::scope(|scope| {
        let truncating = state.truncating.lock().unwrap();
        raw.execute_batch("BEGIN IMMEDIATE").unwrap();
        let writer = scope.spawn(|| commit(&mut group));
        sleep(IN_VAIN);
        raw.execute_batch("COMMIT").unwrap();
        drop(truncating);
        writer.join().unwrap().unwrap().unwrap();
    });
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(commit(&mut group).unwrap_err().is_busy());
}

/// The other half: the log is truncated under the lock that the writer waits for.
#[test]
fn truncation_excludes_the_writer_of_the_same_store() {
    let place = Place::new();
    wait(place.open().close()).unwrap();
    let raw = place.raw();
    raw.pragma_update(None, "user_version", FORMAT).unwrap();
    let files = Files::at(&place.path());
    let mut checkpoints = Checkpoints::new(place.path(), files, settings().checkpoint_frames);
    let state = checkpoints.state();
    let truncating = state.truncating.lock().unwrap();
    checkpoints.committed(&raw);
    // The thread truncates a log that is idle for one to two seconds.
    sleep(Duration::from_secs(3));
    assert!(wal_bytes(&place.path()) > 0);
    drop(truncating);
    let start = Instant::now();
    while wal_bytes(&place.path()) > 0 {
        assert!(start.elapsed() < STUCK, "not truncated");
        sleep(Duration::from_millis(10));
    }
    checkpoints.stop();
}

#[test]
fn time_in_the_queue_counts_as_waiting() {
    for (busy_ms, waited_ms, left) in [
        (2000, 0, 2000),
        (2000, 500, 1500),
        // The writer may have been busy itself.
        (2000, 1995, 10),
        (2000, 100_000, 10),
        (5, 100_000, 5),
        (0, 0, 0),
        (0, 100_000, 0),
    ] {
        let waited = Duration::from_millis(waited_ms);
        assert_eq!(left_ms(busy_ms, waited), left, "{busy_ms} {waited_ms}");
    }
}

/// Queues a batch, and returns how to wait for its answer, which may be there at once.
fn sent<T>(mut answer: Reply<T>) -> impl FnOnce() -> Result<T, Unavailable> {
    let first = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    move || match first {
        Poll::Ready(answer) => answer,
        Poll::Pending => wait(answer),
    }
}

/// Three groups of callers whose time is over do not wait for the busy timeout, let alone three
/// times. Those that came later have their own time.
#[test]
fn callers_behind_a_frozen_process_wait_for_one_busy_timeout() {
    let place = Place::new();
    let busy = 2 * STUCK;
    let busy_ms = u64::try_from(busy.as_millis()).unwrap();
    let patient = StoreSettings { busy_ms, ..settings() };
    let store = super::super::open(&place.path(), patient, false).unwrap();
    let raw = place.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let long_ago = Instant::now().checked_sub(busy).unwrap();
    let write = || batch(vec![Machine::execution().write(1)]);
    let expired: Vec<_> =
        (0..600).map(|_| sent(store.writing().apply(write(), long_ago))).collect();
    let fresh = sent(store.apply(write()));
    let (answering, answered) = mpsc::channel();
    std::thread::spawn(move || {
        answering.send(expired.into_iter().map(|answer| answer()).collect::<Vec<_>>())
    });
    let answers = answered.recv_timeout(STUCK).expect("they wait again");
    assert!(answers.into_iter().all(|answer| answer.unwrap_err().is_busy()));
    raw.execute_batch("COMMIT").unwrap();
    fresh().unwrap().unwrap();
    assert_eq!(verify(&store), 1);
}

/// The time that another one of its group has waited is not its own.
#[test]
fn caller_in_a_failed_group_has_its_own_time() {
    let (place, _store) = Place::opened();
    let path = place.path();
    let connection = connection::open(&path, Role::Writer, 0).unwrap();
    let other = path.clone();
    let opened = move |connection: &mut Connection| {
        // The second row fails, and then another process is faster than the transactions of each.
        connection.execute_batch(
            "CREATE TEMP TRIGGER fails BEFORE INSERT ON main.instance
             WHEN (SELECT count(*) FROM main.instance) = 1
             BEGIN SELECT RAISE(ABORT, 'a fault of a test'); END",
        )?;
        let (path, mut is_first) = (other.clone(), true);
        connection.rollback_hook(Some(move || {
            if std::mem::take(&mut is_first) {
                let raw = Connection::open(&path).unwrap();
                raw.execute_batch("BEGIN IMMEDIATE").unwrap();
                std::thread::spawn(move || {
                    sleep(Duration::from_secs(1));
                    raw.execute_batch("COMMIT").unwrap();
                });
            }
        }))
    };
    let (files, state) = (Files::at(&path), Arc::<CheckpointState>::default());
    let mut group =
        Group::new(path, files, settings(), connection, Box::new(opened), state).unwrap();
    let long_ago = Instant::now().checked_sub(Duration::from_millis(settings().busy_ms)).unwrap();
    let [first, second] = [(); 2].map(|()| batch(vec![Machine::execution().write(1)]));
    let outcomes = group.run(&[(&first, long_ago), (&second, Instant::now())]).unwrap();
    assert!(outcomes[0].as_ref().is_err_and(Unavailable::is_busy), "{outcomes:?}");
    assert!(matches!(outcomes[1], Ok(Ok(_))), "{outcomes:?}");
}
