// EX-9: a gate asks for the approval of an action. A question of one's own is no gate.

use machine::contract::{Execution, Gate, execution::Waiting};

fn forge(waiting: Execution<Waiting>, other: Gate) -> Gate {
    Gate { waiting, ..other }
}

fn main() {}
