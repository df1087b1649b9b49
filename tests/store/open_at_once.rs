//! A file that many open before it is there.

use std::{sync::Barrier, thread};

use machine::store::SqliteStore;

/// Each of them gets the store: one makes the file, the others find it made.
#[test]
fn all_of_them_open_it() {
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        let together = Barrier::new(8);
        let opened: Vec<_> = thread::scope(|scope| {
            let openers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        together.wait();
                        SqliteStore::open(&file).map(drop)
                    })
                })
                .collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        assert!(opened.iter().all(Result::is_ok), "round {round}: {opened:?}");
    }
}
