use std::sync::{atomic::AtomicUsize, mpsc};

use super::*;

#[test]
fn close_finishes_what_is_queued_and_leaves_one_file() {
    let (place, store) = Place::opened();
    store.on_commit(Arc::new(|| {}));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut written = 0;
                    while wait(store.apply(batch(vec![Machine::execution().write(1)]))).is_ok() {
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        wait(store.close()).unwrap();
        assert_eq!(place.files().len(), 1);
        let written: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        let copy = Place::new();
        std::fs::copy(place.path(), copy.path()).unwrap();
        assert_eq!(verify(&copy.open()), written);
    });
    wait(store.close()).unwrap();
    assert_eq!(wait(store.newest()).unwrap_err(), Unavailable::Stopped);
    assert_eq!(wait(store.apply(batch(vec![]))).unwrap_err(), Unavailable::Stopped);
}

#[test]
fn close_does_not_wait_for_a_reader_that_stays() {
    let place = Place::new();
    let an_hour = StoreSettings { busy_ms: 3_600_000, ..settings() };
    let store = super::super::open(&place.path(), an_hour, false).unwrap();
    let machine = stored(&store, 1);
    let raw = place.raw();
    raw.execute_batch("BEGIN").unwrap();
    raw.query_row("SELECT count(*) FROM instance", [], |_| Ok(())).unwrap();
    let (closing, closed) = mpsc::channel();
    std::thread::spawn(move || closing.send(wait(store.close())));
    let error = closed.recv_timeout(STUCK).expect("it waits for the reader").unwrap_err();
    assert!(error.is_busy() && error.to_string().contains("everything is on disk"), "{error}");
    raw.execute_batch("COMMIT").unwrap();
    assert!(matches!(row(&place.open(), machine.row.id), FoundRow::Row(..)));
}

#[test]
fn a_dropped_store_ends_its_threads() {
    let (place, store) = Place::opened();
    store.on_commit(Arc::new(|| {}));
    let machine = stored(&store, 1);
    let pending = store.apply(batch(vec![Machine::execution().write(1)]));
    drop(store);
    place.wait_for_one_file();
    assert_eq!(wait(pending).unwrap_err(), Unavailable::Stopped);
    assert!(matches!(row(&place.open(), machine.row.id), FoundRow::Row(..)));
}

#[test]
fn blocking_work_holds_up_no_read() {
    let (_place, store) = Place::opened();
    let (go, wait_for_it) = mpsc::channel::<()>();
    let done = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&done);
    store.run(Box::new(move || wait_for_it.recv().unwrap_or_default()));
    store.run(Box::new(|| panic!("in a test")));
    store.run(Box::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    }));
    stored(&store, 1);
    assert_eq!(wait(store.newest()).unwrap(), 1);
    go.send(()).unwrap();
    wait_for("not done", || done.load(Ordering::SeqCst) > 0);
}

/// A store whose log starts again at its beginning after `LOG_BYTES`.
fn with_small_log() -> (Place, Sqlite) {
    let place = Place::new();
    let small = StoreSettings { checkpoint_frames: 32, ..settings() };
    let store = super::super::open(&place.path(), small, false).unwrap();
    (place, store)
}

/// 16 times the frames between two checkpoints, each a page and a header.
const LOG_BYTES: u64 = 16 * 32 * (4096 + 24);

/// Creates machines with 64 KB of state, and returns the largest size of the log.
fn write_large(place: &Place, store: &Sqlite, machines: usize) -> u64 {
    let write_one = |_| {
        let mut write = Machine::execution().create();
        write.row.state = "x".repeat(64_000);
        apply(store, vec![write]).unwrap();
        wal_bytes(&place.path())
    };
    (0..machines).map(write_one).max().unwrap()
}

#[test]
fn checkpoints_bound_the_log() {
    let (place, store) = with_small_log();
    // They write more than twice the bound. A checkpoint that is not restarted before the next
    // commit frees nothing in the log, so that a busy writer needs its bound.
    let largest = write_large(&place, &store, 80);
    assert!(largest < LOG_BYTES * 3 / 2, "{largest}");
    wait_for("not truncated when idle", || wal_bytes(&place.path()) == 0);
}

fn wait_for(otherwise: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < STUCK, "{otherwise}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_reader_that_stays_delays_only_the_checkpoint() {
    let (place, store) = with_small_log();
    stored(&store, 1);
    let raw = place.raw();
    raw.execute_batch("BEGIN; SELECT count(*) FROM instance").unwrap();
    raw.query_row("SELECT count(*) FROM instance", [], |_| Ok(())).unwrap();
    let grown = write_large(&place, &store, 40);
    assert!(grown > LOG_BYTES);
    raw.execute_batch("COMMIT").unwrap();
    let largest = write_large(&place, &store, 40);
    assert!(
        largest < grown + LOG_BYTES / 2,
        "the log did not start again: {largest} after {grown}"
    );
}
