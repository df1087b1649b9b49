// An attempt has the approved arguments, so a program cannot make one with others.

use machine::Id;
use machine::contract::{Attempt, Irreversible, Tool};
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

fn forge(mail: SendMail, execution_id: Id) -> Attempt<SendMail> {
    Attempt { arguments: mail, execution_id }
}

fn main() {}
