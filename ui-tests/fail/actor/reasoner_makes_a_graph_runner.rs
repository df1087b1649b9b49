// EX-4: code that holds a reasoning node has no way to a graph runner.

use machine::actor::{GraphRunner, ReasoningNode};

fn promote(reasoner: &ReasoningNode) -> &GraphRunner {
    reasoner.into()
}

fn main() {}
