//! The doorbell rings after each commit, when its entries can be read.

use std::{
    cell::Cell,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use super::prelude::*;

thread_local! {
    /// The time after which a ring is missing. A slow computer may be late with one that comes from
    /// another thread.
    pub(super) static PATIENCE: Cell<Duration> = const { Cell::new(Duration::from_mins(1)) };
}

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let doorbells = [doorbell(&store), doorbell(&store)];
    let mut machine = Machine::execution();
    for _ in 0..5 {
        let last = store.accepts(machine.write(1)).await?.last[0];
        for rings in &doorbells {
            wait_for(rings, last).await?;
        }
    }
    Ok(())
}

/// Asks for the newest number at each ring, which also shows that a doorbell may use the backend.
fn doorbell(store: &Subject) -> Receiver<Reply<u64>> {
    let (sender, receiver) = channel();
    let backend = Arc::downgrade(&store.0);
    store.0.on_commit(Arc::new(move || {
        if let Some(backend) = backend.upgrade() {
            // The receiver is gone when the check is over.
            let _ = sender.send(backend.newest());
        }
    }));
    receiver
}

/// Waits for a ring after which this entry can be read. It may ring more often.
async fn wait_for(rings: &Receiver<Reply<u64>>, last: u64) -> Kept {
    let mut seen = None;
    while seen < Some(last) {
        let Ok(newest) = rings.recv_timeout(PATIENCE.get()) else {
            return Err(format!("no ring for entry {last}; the last one showed {seen:?}"));
        };
        seen = Some(newest.await?);
    }
    ensure!(seen == Some(last), "a ring showed entry {seen:?}, the newest is {last}");
    Ok(())
}
