// An action is a call of a tool: a type that implements `Tool`.

use machine::actor::ReasoningNode;
use machine::contract::{Contract, InvalidContract};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct SendMail {
    to: String,
}

fn plan(mail: &SendMail, by: &ReasoningNode) -> Result<Contract, InvalidContract> {
    Contract::of(mail, by)
}

fn main() {}
