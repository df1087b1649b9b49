// An irreversible action is repeated only by decision of a person.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, Irreversible, Planned, Tool, execution::Completed};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct SendMail {
    to: String,
}

impl Tool for SendMail {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = String;
}

fn repeat(sent: &Execution<Completed>, by: &ReasoningNode) {
    let _again = Planned::<SendMail>::repeat(sent, by);
}

fn main() {}
