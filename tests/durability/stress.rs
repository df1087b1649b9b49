//! Many threads of two processes on one file.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use machine::{
    Id,
    effects::EffectError,
    store::{CommitError, Store},
};
use machine_tests::{
    STUCK,
    actors::tool_node,
    random::{Random, setting},
    samples::mail,
};
use serde::{Deserialize, Serialize};

use crate::{
    machines::{Meter, meter::Counting},
    process::{Process, orders, say},
    support::{assert_intact, block_on, has_exactly, new_file, not_applied, options, stored},
};

const PROCESSES: usize = 2;
const THREADS: usize = 16;

/// The machines that all threads change.
const SHARED: usize = 8;

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    seconds: u64,
    seed: u64,
    shared: Vec<Id>,
}

/// The work of a thread or a process.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Done {
    /// The number of acknowledged entries of each machine.
    entries: BTreeMap<Id, u64>,
    /// The number of commits in each tenth of the time.
    tenths: [u64; 10],
    conflicts: u64,
    busy: u64,
    longest: u64,
}

impl Done {
    fn add(&mut self, other: Self) {
        for (id, entries) in other.entries {
            *self.entries.entry(id).or_default() += entries;
        }
        for (tenth, other) in self.tenths.iter_mut().zip(other.tenths) {
            *tenth += other;
        }
        self.conflicts += other.conflicts;
        self.busy += other.busy;
        self.longest = self.longest.max(other.longest);
    }

    fn failed(&mut self, error: &EffectError) {
        match error {
            EffectError::Commit(CommitError::Conflict { .. }) => self.conflicts += 1,
            EffectError::Unavailable(error) if error.is_busy() => self.busy += 1,
            other => panic!("{other}"),
        }
    }
}

/// Every acknowledged entry is there once, and no other error occurs than a conflict or a busy
/// file.
#[test]
fn versions_add_up() {
    let seconds: u64 = setting("MACHINE_STRESS_SECONDS").unwrap_or(1);
    let mut random = Random::of("stress");
    let (_folder, file) = new_file();
    let mut done = Done::default();
    let mut shared = Vec::new();
    block_on(async {
        let store = options().sqlite(&file).await.unwrap();
        for _ in 0..SHARED {
            let mut meter = Meter::new().add("0".to_owned());
            store.create(&mut meter).await.unwrap();
            shared.push(meter.id());
            done.entries.insert(meter.id(), 2);
        }
        store.close().await.unwrap();
    });
    let mut processes: Vec<Process> = (0..PROCESSES)
        .map(|_| {
            let (file, shared) = (file.clone(), shared.clone());
            let orders = Orders { file, seconds, seed: random.number(), shared };
            Process::start("stress::works", &orders)
        })
        .collect();
    for process in &mut processes {
        done.add(process.hear());
        assert!(process.ended().success());
    }
    block_on(has_exactly(&file, &done.entries));
    let total: u64 = done.tenths.iter().sum();
    let per_second = |commits: u64| commits * 10 / seconds;
    eprintln!(
        "{seconds} s, {PROCESSES} processes of {THREADS} threads: {total} commits; first tenth {}/s, \
         last tenth {}/s, all tenths {:?}; {} conflicts, {} busy; longest history {}",
        per_second(done.tenths[0]),
        per_second(done.tenths[9]),
        done.tenths,
        done.conflicts,
        done.busy,
        done.longest,
    );
}

/// Many executions of one action, through two stores: at any time at most one has a permit. Each
/// owner gives the key back, and the others see a held key and nothing else. It goes on until the
/// key was taken a number of times.
#[test]
fn one_key_goes_from_hand_to_hand() {
    let (_folder, file) = new_file();
    let stores = [(), ()].map(|()| block_on(options().sqlite(&file)).unwrap());
    let (taken, holders) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for at in 0..8 {
            let (store, taken, holders) = (&stores[at % 2], &taken, &holders);
            scope.spawn(move || block_on(takes_the_key(store, taken, holders)));
        }
    });
    block_on(async {
        assert_intact(&stores[0]).await;
        assert_eq!(stores[0].recover().await.unwrap().in_doubt.len(), 0);
    });
}

/// Takes the key again and again, until it was taken often enough by all.
async fn takes_the_key(store: &Store, taken: &AtomicUsize, holders: &AtomicUsize) {
    const TAKES: usize = 20;
    let start = Instant::now();
    while taken.load(Ordering::SeqCst) < TAKES {
        assert!(start.elapsed() < STUCK, "it was taken {taken:?} times");
        match store.begin(stored(store, mail("bob")).await, tool_node()).await {
            Ok((running, permit)) => {
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two have a permit");
                let outcome = not_applied(permit, "not now").await;
                holders.fetch_sub(1, Ordering::SeqCst);
                let _ = store.settle(running, outcome, tool_node()).await.unwrap();
                taken.fetch_add(1, Ordering::SeqCst);
            }
            Err(refused) => match refused.reason {
                EffectError::Commit(CommitError::KeyHeld { .. }) => {}
                EffectError::Unavailable(error) if error.is_busy() => {}
                other => panic!("{other}"),
            },
        }
    }
}

#[test]
#[ignore = "another test runs it as another process"]
fn works() {
    let orders: Orders = orders();
    let store = block_on(options().sqlite(&orders.file)).unwrap();
    let mut random = Random::new(orders.seed);
    let barrier = Barrier::new(THREADS);
    let orders = Arc::new(orders);
    let mut done = Done::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let random = Random::new(random.number());
                let (store, barrier, orders) = (&store, &barrier, &orders);
                scope.spawn(move || {
                    barrier.wait();
                    block_on(work(store, orders, random))
                })
            })
            .collect();
        for thread in threads {
            done.add(thread.join().unwrap());
        }
    });
    block_on(store.close()).unwrap_or_else(|error| assert!(error.is_busy(), "{error}"));
    say(&done);
}

/// Changes shared machines, its own one that grows, and new ones.
async fn work(store: &Store, orders: &Orders, mut random: Random) -> Done {
    let mut done = Done::default();
    let (start, whole) = (Instant::now(), Duration::from_secs(orders.seconds));
    let mut own = Meter::new().add("0".to_owned());
    loop {
        match store.create(&mut own).await {
            Ok(()) => break,
            Err(error) => done.failed(&error),
        }
    }
    done.entries.insert(own.id(), 2);
    loop {
        let passed = start.elapsed();
        let tenth = passed.as_millis() * 10 / whole.as_millis();
        let Some(count) = usize::try_from(tenth).ok().filter(|tenth| *tenth < 10) else {
            return done;
        };
        let written = match random.below(10) {
            0..3 => {
                let id = *random.pick(&orders.shared);
                let mut meter =
                    store.resume::<Counting>(id).await.unwrap().add("shared".to_owned());
                store.commit(&mut meter).await.map(|()| vec![(id, 1)])
            }
            3 => {
                let mut new = Meter::new().add("new".to_owned());
                store.create(&mut new).await.map(|()| vec![(new.id(), 2)])
            }
            4 => {
                // With one that others change too: both or none.
                let id = *random.pick(&orders.shared);
                let mut meter = store.resume::<Counting>(id).await.unwrap().add("both".to_owned());
                let mut new = Meter::new();
                let batch = store.batch().commit(&mut meter).create(&mut new);
                batch.write().await.map(|()| vec![(id, 1), (new.id(), 1)])
            }
            _ => {
                // Its history gets long. An error leaves what is uncommitted for the next time.
                if own.journal().uncommitted().is_empty() {
                    own = own.add("own".to_owned());
                }
                store.commit(&mut own).await.map(|()| vec![(own.id(), 1)])
            }
        };
        match written {
            Ok(entries) => {
                done.tenths[count] += 1;
                for (id, entries) in entries {
                    *done.entries.entry(id).or_default() += entries;
                }
                done.longest = done.longest.max(own.journal().version());
            }
            Err(error) => done.failed(&error),
        }
    }
}
