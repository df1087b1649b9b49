//! Many threads compete for the same key (EX-5).

use std::{sync::Barrier, thread};

use machine::{
    contract::{Action, Permit},
    store::{CommitError, Store},
};
use machine_tests::samples::mail;

use crate::store::support::{Place, begin, block_on, pending};

const THREADS: usize = 8;

/// A small random generator, so that a seed determines the test's part of the schedule.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Every thread begins an execution after a pause derived from the seed; returns the permits.
fn race(seed: u64, same_execution: bool, store_each: bool) -> Vec<Permit<Action>> {
    let mut random = Random(seed);
    let place = block_on(Place::new());
    let first = block_on(place.stored(mail("bob"))).id();
    let starts: Vec<_> = (0..THREADS)
        .map(|_| {
            let id = if same_execution { first } else { block_on(place.stored(mail("bob"))).id() };
            let store: Store =
                if store_each { block_on(place.open_again()) } else { place.store.clone() };
            (block_on(pending(&store, id)), store, random.below(2_000))
        })
        .collect();
    let barrier = Barrier::new(THREADS);
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = starts
            .into_iter()
            .map(|(pending, store, pause)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    (0..pause).for_each(|_| std::hint::spin_loop());
                    // Keep the store alive until the race is over.
                    (block_on(begin(&store, pending)), store)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut permits = Vec::new();
    for (result, _store) in results {
        match result {
            Ok((_, permit)) => permits.push(permit),
            Err(CommitError::Conflict { .. }) if same_execution => {}
            Err(CommitError::KeyHeld { .. }) if !same_execution => {}
            Err(other) => panic!("seed {seed}: {other:?}"),
        }
    }
    permits
}

fn one_permit(same_execution: bool, store_each: bool) {
    for seed in 1..=6 {
        let permits = race(seed, same_execution, store_each);
        assert_eq!(permits.len(), 1, "seed {seed}: {permits:?}");
    }
}

/// Races for one execution, through one store.
#[test]
fn one_execution_one_store() {
    one_permit(true, false);
}

/// Races for one execution, each through its own store.
#[test]
fn one_execution_many_stores() {
    one_permit(true, true);
}

/// Many executions with one key, through one store.
#[test]
fn one_key_one_store() {
    one_permit(false, false);
}

/// Many executions with one key, each through its own store.
#[test]
fn one_key_many_stores() {
    one_permit(false, true);
}
