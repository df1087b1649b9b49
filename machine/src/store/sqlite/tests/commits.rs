use super::*;

#[test]
fn threads_commit_in_groups() {
    let (place, store) = Place::opened();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut machine = Machine::execution();
                for _ in 0..20 {
                    let last = apply(&store, vec![machine.write(2)]).unwrap().last[0];
                    // Nothing is answered before it can be read.
                    assert!(wait(store.newest()).unwrap() >= last);
                }
                let stale = Write { expected: Some(3), ..machine.write(1) };
                let refused = apply(&store, vec![stale]);
                assert_eq!(
                    refused,
                    Err(Rejected::Commit(CommitError::Conflict { id: machine.row.id }))
                );
            });
        }
    });
    assert_eq!(verify(&store), 16 * 20 * 2);
    let chains = "SELECT count(chain) FROM journal";
    let transactions: i64 = place.raw().query_row(chains, [], |row| row.get(0)).unwrap();
    assert!(transactions < 320, "{transactions} transactions");
}

/// A writer begins with what its last commit left, unless another store has committed since. If it
/// did not look, it would number a line as another one is numbered, and miss that a kind of machine
/// is driven.
#[test]
fn a_writer_reads_again_what_another_store_has_changed() {
    let place = Place::new();
    let stores = [place.open(), place.open()];
    let mut machines = [(); 2].map(|()| Machine::execution());
    // The stores take turns, twice on the same machine and then on the other one.
    for (turn, seq) in (0..8).zip(1..) {
        let write = machines[turn / 2 % 2].write(1);
        assert_eq!(apply(&stores[turn % 2], vec![write]).unwrap().last, [seq]);
    }
    assert_eq!(verify(&stores[0]), 8);

    let drives = WriteBatch { drives: vec!["execution".to_owned()], ..batch([]) };
    wait(stores[1].apply(drives)).unwrap().unwrap();
    let driven = stored(&stores[0], 1);
    let (_, work, _) = wait(stores[0].task(driven.row.id)).unwrap();
    assert!(work.is_some(), "no worker is told of it");
}

/// An index costs a page of the log for each commit that writes to it.
#[test]
fn a_commit_writes_to_no_index_of_what_stays() {
    let place = Place::new();
    let store = place.open();
    let log = super::super::inspect::wal(&place.path());
    let pages = || (std::fs::metadata(&log).unwrap().len() - 32) / (24 + 4096);
    let mut machine = Machine::execution();
    apply(&store, vec![machine.create()]).unwrap();
    let before = pages();
    apply(&store, vec![machine.update(1)]).unwrap();
    // Its row, its line, and the index of lines.
    assert_eq!(pages() - before, 3);
    machine.row.due_at = Some(9);
    let before = pages();
    apply(&store, vec![machine.update(1)]).unwrap();
    // The indexes of live machines, of deadlines, and of lines that are no transitions, too.
    assert_eq!(pages() - before, 6);
    let before = pages();
    apply(&store, vec![machine.end()]).unwrap();
    assert!(pages() - before <= 7, "{}", pages() - before);
}

/// A retry that has nothing to write is an answer about the file, too.
#[test]
fn a_batch_in_a_file_that_was_moved_is_not_done() {
    let (place, store) = Place::opened();
    let mut machine = Machine::execution();
    let creates = batch(vec![machine.create()]);
    // The look after this one counts as that before the next.
    wait(store.apply(creates.clone())).unwrap().unwrap();
    let away = place.0.path().join("away");
    std::fs::rename(place.path(), &away).unwrap();
    wait(store.apply(creates.clone())).unwrap_err();
    std::fs::rename(away, place.path()).unwrap();
    wait(store.apply(creates)).unwrap().unwrap();
}
