//! The process that is killed. It performs random operations, and announces each one.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use machine::{
    Id,
    effects::EffectError,
    store::{CommitError, Query, Store},
};
use machine_tests::random::Random;
use tokio::sync::RwLock;

use super::{
    said::{Orders, Said},
    slot::Slot,
};
use crate::{
    process::{Act, orders, say},
    support::options,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "another test runs it as another process"]
async fn works() {
    let orders: Orders = orders();
    if let Some((point, before)) = &orders.point {
        Act::Kill.at(point, *before);
    }
    let mut random = Random::new(orders.seed);
    let store = options().sqlite(&orders.file).await.unwrap();
    if random.percent(50) {
        recover(&store).await;
    }
    let mut shares: Vec<Vec<Slot>> = (0..orders.workers).map(|_| Vec::new()).collect();
    let lines = crate::support::lines(&store, &Query::new()).await;
    for (position, line) in lines.iter().rev().take(100).enumerate() {
        shares[position % orders.workers].push(Slot::load(&store, line.id, &line.machine).await);
    }
    let shared = Arc::new(Shared {
        store: RwLock::new(store),
        operations: AtomicU64::new(1),
        padding: "x".repeat(orders.padding),
    });
    let mut workers = tokio::task::JoinSet::new();
    for slots in shares {
        let (shared, random) = (Arc::clone(&shared), Random::new(random.number()));
        let mut worker = Worker { shared, random, slots };
        workers.spawn(async move {
            for _ in 0..orders.operations {
                worker.step().await;
            }
            // Unsettled attempts are lost with the process. Dropped, their evidence would be
            // written.
            std::mem::forget(worker.slots);
        });
    }
    while let Some(worker) = workers.join_next().await {
        worker.unwrap();
    }
    shared.store.read().await.close().await.unwrap();
    say(&Said::End);
}

/// The state that the workers share. Recovering and closing need exclusive access to the store.
pub(super) struct Shared {
    pub(super) store: RwLock<Store>,
    operations: AtomicU64,
    pub(super) padding: String,
}

pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) random: Random,
    /// The machines that only this worker changes.
    pub(super) slots: Vec<Slot>,
}

async fn recover(store: &Store) {
    say(&Said::WillRecover);
    let recovered = store.recover().await.unwrap();
    assert!(recovered.failed.is_empty(), "{:?}", recovered.failed);
    assert!(recovered.settled.is_empty() && recovered.interrupted.is_empty(), "{recovered:?}");
    let in_doubt = recovered.in_doubt.iter().map(|doubt| doubt.id()).collect();
    say(&Said::DidRecover { in_doubt });
}

impl Worker {
    async fn step(&mut self) {
        match self.random.below(100) {
            0..2 => self.recover().await,
            2..4 => self.reopen().await,
            4..75 => self.operation(1).await,
            _ => {
                let most = 2 + self.random.below(4);
                self.operation(most).await;
            }
        }
    }

    /// Recovers, and gets what was lost before.
    async fn recover(&mut self) {
        let store = self.shared.store.write().await;
        recover(&store).await;
        for slot in &mut self.slots {
            if let Slot::Lost(id) = slot {
                *slot = Slot::load(&store, *id, "execution").await;
            }
        }
    }

    async fn reopen(&mut self) {
        let file = orders::<Orders>().file;
        let mut store = self.shared.store.write().await;
        store.close().await.unwrap();
        *store = options().sqlite(file).await.unwrap();
    }

    /// Writes at most this many machines together.
    async fn operation(&mut self, most: usize) {
        let operation = self.shared.operations.fetch_add(1, Ordering::Relaxed);
        let mut items = Vec::new();
        let mut writes = Vec::new();
        for part in 0..most {
            let text = format!("{operation}.{part}.{}", self.shared.padding);
            let create = self.slots.len() < 5 || self.random.percent(20);
            let (item, planned) = if create {
                self.create(&text)
            } else {
                let slot = self.slots.swap_remove(self.random.below(self.slots.len()));
                match self.change(slot, text, most == 1).await {
                    Ok(change) => change,
                    Err(slot) => {
                        self.slots.push(slot);
                        continue;
                    }
                }
            };
            items.push(item);
            writes.push(planned);
        }
        if items.is_empty() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let store = shared.store.read().await;
        let ids: Vec<(Id, bool)> =
            writes.iter().map(|planned| (planned.id, planned.from > 0)).collect();
        say(&Said::Will { operation, writes });
        let written = self.write(&store, items).await;
        match written {
            Ok(slots) => {
                say(&Said::Did { operation });
                self.slots.extend(slots);
            }
            Err((machines, error, answered)) => {
                assert!(
                    matches!(
                        error,
                        EffectError::Commit(
                            CommitError::KeyHeld { .. } | CommitError::AlreadyDone { .. }
                        )
                    ),
                    "{error}"
                );
                say(&Said::Refused { operation });
                // As they were before, apart from the permits; with the outcomes, which are settled
                // later.
                for ((id, stored), machine) in ids.into_iter().zip(machines) {
                    if stored && !answered.iter().any(|slot| slot.id() == id) {
                        self.slots.push(Slot::load(&store, id, machine).await);
                    }
                }
                self.slots.extend(answered);
            }
        }
    }
}
