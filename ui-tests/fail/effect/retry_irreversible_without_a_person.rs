// A retry is decided by a person, not by a reasoner.

use machine::actor::ReasoningNode;
use machine::contract::{Execution, Irreversible, Planned, Tool, execution::Failed};
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

fn retry(failed: &Execution<Failed>, by: &ReasoningNode) {
    let _again = Planned::<SendMail>::retry(failed, by);
}

fn main() {}
