// The decision about one retry is not a decision about another.

use machine::contract::{Contract, Decider, Execution, execution::Failed};

fn as_before(failed: &Execution<Failed>, decider: &Decider) -> Contract {
    Contract::retry(failed, decider)
}

fn main() {}
