// EX-5: a person or a policy decides about a retry, also where the type of the tool is not known.

use machine::actor::ReasoningNode;
use machine::contract::{Contract, Execution, execution::Failed};

fn retry(failed: &Execution<Failed>, by: &ReasoningNode) -> Contract {
    Contract::retry(failed, by)
}

fn main() {}
