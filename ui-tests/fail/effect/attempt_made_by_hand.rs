// EX-5: an attempt has the arguments that were approved, so nobody makes one of others.

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
