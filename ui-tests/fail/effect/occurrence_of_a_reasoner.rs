// A reasoner cannot repeat an action by giving it another name.

use machine::actor::ReasoningNode;
use machine::contract::{Contract, InvalidContract};

fn again(reminder: Contract, by: &ReasoningNode) -> Result<Contract, InvalidContract> {
    reminder.occurrence("once more", by)
}

fn main() {}
