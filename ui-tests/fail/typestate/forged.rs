// Machines that are made, copied or changed without a transition. Functions are named after the mistakes.

use machine::__private::{Journal, Pass};
use machine::contract::execution::{Completed, Pending, Running};
use machine::contract::{AnyExecution, Contract, Execution};
use machine::journal::{Entry, Fact};
use machine::stored::{Core, Durable, Unverified};
use machine::{Id, machine};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship(address) => Shipped)]
    Draft,

    #[terminal]
    Shipped { address: String },
}

fn needs<T: DeserializeOwned>() {}

// A machine cannot be cloned, because the clone could be moved a second time.
fn clone_machine(pending: Execution<Pending>) {
    let _second = pending.clone();
}

// An erased machine cannot be deserialized without `verify`.
fn forge_any_from_json() {
    needs::<AnyExecution>();
}

// The core of a machine cannot be built by other code, which would give it another journal.
fn forge_core(journal: Journal, context: Contract) -> Core<Contract> {
    Core { journal, context }
}

// JSON becomes an `Unverified`, and only `verify` makes a machine of it.
fn forge_from_json() {
    needs::<Unverified>();
    needs::<Completed>();
    needs::<Execution<Completed>>();
}

// A journal begins with the creation of its machine, and cannot be built.
fn forge_journal(id: Id, entries: Vec<Entry>) -> Journal {
    Journal { id, entries }
}

// A machine cannot be constructed; `new`, a transition or a verified restore makes it.
fn forge_machine() -> Execution<Completed> {
    Execution { state: Completed { result: "sent".to_owned() } }
}

// Write access to the journal needs a pass, which only the library can make.
fn forge_pass(running: &mut Execution<Running>) -> &mut Journal {
    running.__journal_mut(Pass(()))
}

// Only a transition writes to the journal.
fn append_to_the_journal(running: &mut Execution<Running>) {
    let fact = Fact::Moved {
        from: "running".into(),
        to: "completed".into(),
        trigger: "succeed".into(),
        stays: false,
        payload: serde_json::Map::new(),
        deadlines: Vec::new(),
    };
    running.journal().append(None, fact);
}

// A machine comes from a store, or from data that was verified.
fn read_a_machine_from_json() {
    let _order: AnyOrder = serde_json::from_str("{}").unwrap();
}

// Data from a disk is unverified. Only `verify` makes a machine of it.
fn unverified_is_not_a_machine(claim: Unverified) -> AnyExecution {
    claim
}

fn main() {}
