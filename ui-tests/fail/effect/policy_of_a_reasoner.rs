// A retry policy is part of the program. A reasoner cannot write one.

use machine::actor::ReasoningNode;
use machine::contract::Policy;

fn always(by: &ReasoningNode) {
    let _policy = Policy::new("retry whatever failed", by);
}

fn main() {}
