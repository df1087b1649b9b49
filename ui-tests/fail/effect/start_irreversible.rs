// An irreversible tool cannot start without a permit.

use machine::actor::ToolNode;
use machine::contract::{Irreversible, Planned, Tool};
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

fn start(mail: Planned<SendMail>, by: &ToolNode) {
    let _running = mail.start(by);
}

fn main() {}
