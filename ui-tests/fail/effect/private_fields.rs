// Values that only the library makes: their fields are private. Functions are named after the mistakes.

use machine::contract::{
    Action, ApprovalRequest, Call, Execution, Gate, Permit, Planned, Token, Tool,
    execution::Waiting,
};
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

// The request for an approval is made from the action.
fn approval_made_by_hand<T: Tool>(gate: &Gate, other: &Planned<T>) -> ApprovalRequest {
    ApprovalRequest { execution: other.id(), ..gate.approval().clone() }
}

// A gate asks for the approval of an action. Another question does not make a gate.
fn gate_made_by_hand(waiting: Execution<Waiting>, other: Gate) -> Gate {
    Gate { waiting, ..other }
}

// Only `Store::begin` issues permits.
fn permit_made_by_hand(call: Call<Action>) -> Permit<Action> {
    Permit { call }
}

// A store gives each permit a fencing token; a program cannot choose it.
fn token_made_by_hand() -> Token {
    Token { generation: 1, sequence: 2 }
}

// The fields of a machine are private even to the module that declares it.
fn forge_own_machine() {
    let _ = Order { state: order::Shipped };
}

fn main() {}
