// EX-9: a gate completes by the decision of a person, and by nothing else.

use machine::actor::GraphRunner;
use machine::contract::Gate;

fn answer_oneself(gate: Gate, by: &GraphRunner) {
    let _approved = gate.into_execution().resume(by).succeed("yes".to_owned(), by);
}

fn main() {}
