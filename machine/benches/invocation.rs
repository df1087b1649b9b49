//! The cost of a call that a state makes, against the same execution, in the same session, created
//! in the same batch without a parent: `ratio NAME VALUE` lines, in time and in bytes of the
//! write-ahead log. `instructions.py` counts instructions.
//!
//! `cargo bench --package machine --bench invocation`

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod harness;

use std::{cell::Cell, path::Path, sync::LazyLock, time::Instant};

use harness::ratio;
use machine::{
    actor::{Actors, Human},
    contract::{CallError, Contract, Outcome, Planned, Tool},
    machine,
    store::Store,
};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

static ACTORS: LazyLock<Actors> = LazyLock::new(|| Actors::issue("bench").unwrap());
static ANN: LazyLock<Human> = LazyLock::new(|| Human::new("ann").unwrap());

/// The largest set.
const SET: u64 = 256;

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
pub struct Charge {
    order: u64,
}

/// Its table makes the calls.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    #[on(place_all(charges) => Buying, by = Human)]
    Cart,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },
    #[invoke(charges: [Charge] = charges.clone(), done = all)]
    #[on(all(outcomes) => Bought)]
    Buying { charges: Vec<Charge> },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
    #[terminal]
    Bought { outcomes: Vec<Outcome<Charge>> },
}

/// Its program creates executions of its own.
mod plain {
    use super::{CallError, Charge, Deserialize, Human, Outcome, Serialize, machine};

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub enum Order {
        #[initial]
        #[on(place(charge) => Paying, by = Human)]
        #[on(place_all(charges) => Buying, by = Human)]
        Cart,
        #[on(paid(receipt) => Paid)]
        #[on(refused(why) => Unpaid)]
        Paying { charge: Charge },
        #[on(all(outcomes) => Bought)]
        Buying { charges: Vec<Charge> },
        #[terminal]
        Paid { receipt: String },
        #[terminal]
        Unpaid { why: CallError },
        #[terminal]
        Bought { outcomes: Vec<Outcome<Charge>> },
    }
}

fn charges(next: &Cell<u64>, count: u64) -> Vec<Charge> {
    let first = next.replace(next.get() + count);
    (first..first + count).map(|order| Charge { order }).collect()
}

async fn by_table(store: &Store, mut charges: Vec<Charge>) {
    let mut cart = Order::new();
    store.create(&mut cart).await.unwrap();
    if charges.len() == 1 {
        store.commit(&mut cart.place(charges.remove(0), &*ANN)).await.unwrap();
    } else {
        store.commit(&mut cart.place_all(charges, &*ANN)).await.unwrap();
    }
}

async fn by_hand(store: &Store, mut charges: Vec<Charge>) {
    let mut cart = plain::Order::new();
    store.create(&mut cart).await.unwrap();
    let id = cart.id();
    let mut calls: Vec<_> = charges
        .iter()
        .map(|charge| {
            let contract = Contract::of(charge, &ACTORS.reasoning_node).unwrap();
            let contract = contract.session(id.to_string());
            Planned::<Charge>::new(contract).unwrap().into_execution()
        })
        .collect();
    if charges.len() == 1 {
        let mut paying = cart.place(charges.remove(0), &*ANN);
        let batch = store.batch().commit(&mut paying);
        batch.create(&mut calls[0]).write().await.unwrap();
    } else {
        let mut buying = cart.place_all(charges, &*ANN);
        let mut batch = store.batch().commit(&mut buying);
        for call in &mut calls {
            batch = batch.create(call);
        }
        batch.write().await.unwrap();
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// A store in a file of its own.
fn store(runtime: &Runtime, folder: &Path, name: &str) -> Store {
    runtime.block_on(Store::sqlite(folder.join(name))).unwrap()
}

/// The bytes that the write-ahead log grows by.
fn logged(folder: &Path, name: &str, count: u64, table: bool) -> u64 {
    let (runtime, next) = (runtime(), Cell::new(0));
    let store = store(&runtime, folder, name);
    let log = folder.join(format!("{name}-wal"));
    let size = || std::fs::metadata(&log).map_or(0, |it| it.len());
    let write = || {
        let charges = charges(&next, count);
        if table {
            runtime.block_on(by_table(&store, charges));
        } else {
            runtime.block_on(by_hand(&store, charges));
        }
    };
    write();
    let before = size();
    (0..if count == 1 { 50 } else { 2 }).for_each(|_| write());
    size() - before
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    for (name, count, rounds) in [("invocation", 1, 20), ("invocation_set", SET, 5)] {
        let ours = store(&runtime, folder.path(), &format!("{name}-ours.db"));
        let base = store(&runtime, folder.path(), &format!("{name}-base.db"));
        let (our_next, base_next) = (Cell::new(0), Cell::new(0));
        let times = if count == 1 { 50 } else { 1 };
        ratio(
            name,
            rounds,
            || {
                for _ in 0..times {
                    runtime.block_on(by_table(&ours, charges(&our_next, count)));
                }
            },
            || {
                for _ in 0..times {
                    runtime.block_on(by_hand(&base, charges(&base_next, count)));
                }
            },
        );
        if std::env::args().nth(1).as_deref() == Some("once") {
            continue;
        }
        let start = Instant::now();
        runtime.block_on(by_table(&ours, charges(&our_next, count)));
        println!("{name} of {count} calls: {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
        let ours = logged(folder.path(), &format!("{name}-log-ours.db"), count, true);
        let base = logged(folder.path(), &format!("{name}-log-base.db"), count, false);
        #[allow(clippy::cast_precision_loss, reason = "a ratio")]
        let value = ours as f64 / base as f64;
        println!("ratio {name}_log {value:.2}");
    }
}
