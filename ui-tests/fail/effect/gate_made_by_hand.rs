// EX-9: a gate asks for the approval of an action. A question of one's own is no gate.

use machine::contract::{Execution, Gate, execution::Waiting};

fn forge(waiting: Execution<Waiting>) -> Gate {
    Gate { waiting, whole: None }
}

fn main() {}
