// EX-9: what a person is asked to approve is made from the action.

use machine::contract::{Approval, Gate, Planned, Tool};

fn approve<T: Tool>(gate: &Gate, other: &Planned<T>) -> Approval {
    Approval { execution: other.id(), ..gate.approval().clone() }
}

fn main() {}
