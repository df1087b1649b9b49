// Code that holds a reasoning node cannot get a graph runner.

use machine::actor::{GraphRunner, ReasoningNode};

fn promote(reasoner: &ReasoningNode) -> &GraphRunner {
    reasoner.into()
}

fn main() {}
