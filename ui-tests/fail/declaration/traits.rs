// Traits that the types of a declaration lack. Types, states and triggers are named after the mistakes.

use machine::machine;
use machine::stored::Context;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Address {
    pub city: String,
}

#[derive(Debug, Clone)]
pub struct Parcel;

#[derive(Debug, Default, Deserialize)]
struct Effort {
    parcels: u64,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    // A payload item is written to the journal.
    #[on(item_without_serde(parcel: Parcel, to) => FieldWithoutSerde)]
    // `by` names actors: types that implement `Actor`.
    #[on(no_actor(order) => MachineInAState, by = Address)]
    Packed,

    #[terminal]
    FieldWithoutSerde {
        // The type of a field is neither written nor read by serde.
        to: Address,
    },

    #[terminal]
    MachineInAState {
        // A durable machine cannot contain another machine; it has it as a child.
        order: AnyChild,
    },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Child {
    #[initial]
    #[on(end => Ended)]
    Begun,

    #[terminal]
    Ended,
}

#[derive(Debug, Serialize, Deserialize)]
struct MissingContextTrait;

// The context of a durable machine implements `Context`, even if it adds no rules.
#[machine(durable, context = MissingContextTrait)]
#[derive(Debug, Serialize, Deserialize)]
enum First {
    #[initial]
    #[terminal]
    Only,
}

struct ContextWithoutSerde;

impl Context for ContextWithoutSerde {
    type Summary = ();
}

// The context is stored with the machine.
#[machine(durable, context = ContextWithoutSerde)]
#[derive(Debug, Serialize, Deserialize)]
enum Second {
    #[initial]
    #[terminal]
    Only,
}

#[derive(Debug, Serialize, Deserialize)]
struct ContextWithoutASummary;

// A context names the summary of the past that its rules need; `()` for none.
impl Context for ContextWithoutASummary {}

#[derive(Debug, Serialize, Deserialize)]
struct SummaryThatCannotBeWritten;

impl Context for SummaryThatCannotBeWritten {
    // A store keeps the summary of a machine as JSON, so it implements `Serialize` and `Deserialize`.
    type Summary = Effort;
}

fn main() {}
