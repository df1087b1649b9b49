//! A machine whose states make calls, and these calls at each of their stages.

use std::time::Duration;

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{
        Action, AnyExecution, CallError, Execution, Outcome, Permit, Tool, execution::Running,
    },
    machine,
    store::{Message, Store},
};
use serde::{Deserialize, Serialize};

use crate::{
    actors::{ann, tool_node},
    service,
};

/// Takes money, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
pub struct Charge {
    /// How much.
    pub cents: u32,
}

/// Reads a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent)]
pub struct Read {
    /// Which one.
    pub path: String,
}

/// Something that is bought.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Purchase {
    /// Not ordered.
    #[initial]
    #[stable]
    #[on(place(charge) => Paying, by = Human)]
    #[on(ask(charge) => Asking, by = Human)]
    #[on(read(reads) => Reading, by = Human)]
    Cart,
    /// The bank charges.
    #[invoke(payment: Charge = charge.clone(), done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    #[on(cancel => Cancelled, by = Human)]
    #[on(pause => Paused, by = Human, detach)]
    #[on(late => Cancelled, by = GraphRunner, after = Duration::from_secs(60))]
    Paying {
        /// How much.
        charge: Charge,
    },
    /// A person is asked first.
    #[invoke(payment: Charge = charge.clone(), approve, expires = Duration::from_hours(1), done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    #[on(cancel => Cancelled, by = Human)]
    Asking {
        /// How much.
        charge: Charge,
    },
    /// Laid aside.
    #[stable]
    #[on(resume => Paying, by = Human)]
    #[on(cancel => Cancelled, by = Human)]
    Paused {
        /// How much.
        charge: Charge,
    },
    /// Several calls.
    #[invoke(reads: [Read] = reads.clone(), within = Duration::from_secs(10), done = all)]
    #[on(all(outcomes) => Done)]
    Reading {
        /// What to read.
        reads: Vec<Read>,
    },
    /// Paid.
    #[terminal]
    Paid {
        /// The proof.
        receipt: String,
    },
    /// Not paid.
    #[terminal]
    Unpaid {
        /// Why not.
        why: CallError<String>,
    },
    /// All was read.
    #[terminal]
    Done {
        /// What was read.
        outcomes: Vec<Outcome<Read>>,
    },
    /// Not wanted any more.
    #[terminal]
    Cancelled,
}

/// A purchase that is paid for; its machine and the call.
pub async fn placed(store: &Store, cents: u32) -> (Id, Id) {
    let mut purchase = Purchase::new().place(Charge { cents }, ann());
    store.create(&mut purchase).await.unwrap();
    (purchase.id(), calls(store, purchase.id()).await.remove(0))
}

/// One that a person is asked about first.
pub async fn asked(store: &Store, cents: u32) -> (Id, Id) {
    let mut purchase = Purchase::new().ask(Charge { cents }, ann());
    store.create(&mut purchase).await.unwrap();
    (purchase.id(), calls(store, purchase.id()).await.remove(0))
}

/// One that reads this many files.
pub async fn reading(store: &Store, count: usize) -> Id {
    let reads = (0..count).map(|path| Read { path: path.to_string() }).collect();
    let mut purchase = Purchase::new().read(reads, ann());
    store.create(&mut purchase).await.unwrap();
    purchase.id()
}

/// The calls of a machine.
pub async fn calls(store: &Store, id: Id) -> Vec<Id> {
    store.children(id).await.unwrap().into_iter().map(|child| child.id).collect()
}

/// Begins a call.
pub async fn begun(store: &Store, call: Id) -> (Execution<Running>, Permit<Action>) {
    match store.load::<AnyExecution>(call).await.unwrap() {
        AnyExecution::Pending(pending) => store.begin(pending, tool_node()).await.unwrap(),
        other => panic!("it is {}", other.status()),
    }
}

/// Begins a call whose effect is unknown.
pub async fn doubtful(store: &Store, call: Id) {
    let (running, permit) = begun(store, call).await;
    let outcome = service::unknown(permit, "the line went dead").await;
    drop(store.settle(running, outcome, tool_node()).await.unwrap());
}

/// Ends a call that has begun, with a receipt.
pub async fn applied(store: &Store, (running, permit): (Execution<Running>, Permit<Action>)) {
    let outcome = service::applied(permit, "receipt 7").await;
    drop(store.settle(running, outcome, tool_node()).await.unwrap());
}

/// Sends an event to a machine.
pub async fn send(store: &Store, id: Id, event: &purchase::Event, by: &Human) {
    store.send(id, &Message::new(event, by).unwrap()).await.unwrap();
}
