//! Many threads open a file that does not exist yet.

use std::{sync::Barrier, thread};

use machine::store::Store;

use crate::store::support::block_on;

/// All of them succeed: one creates the file, the others find it.
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
                        block_on(Store::sqlite(&file)).map(drop)
                    })
                })
                .collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        assert!(opened.iter().all(Result::is_ok), "round {round}: {opened:?}");
    }
}
