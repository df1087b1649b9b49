// The request for an approval is made from the action.

use machine::contract::{Approval, Gate, Planned, Tool};

fn approve<T: Tool>(gate: &Gate, other: &Planned<T>) -> Approval {
    Approval { execution: other.id(), ..gate.approval().clone() }
}

fn main() {}
