// A person or a policy decides about a retry, even if the type of the tool is unknown.

use machine::actor::ReasoningNode;
use machine::contract::{Contract, Execution, execution::Failed};

fn retry(failed: &Execution<Failed>, by: &ReasoningNode) -> Contract {
    Contract::retry(failed, by)
}

fn main() {}
