// A gate asks for the approval of an action. Another question does not make a gate.

use machine::contract::{Execution, Gate, execution::Waiting};

fn forge(waiting: Execution<Waiting>, other: Gate) -> Gate {
    Gate { waiting, ..other }
}

fn main() {}
