// Only the decision of a person completes a gate.

use machine::actor::GraphRunner;
use machine::contract::Gate;

fn answer_oneself(gate: Gate, by: &GraphRunner) {
    let _approved = gate.into_execution().resume(by).succeed("yes".to_owned(), by);
}

fn main() {}
