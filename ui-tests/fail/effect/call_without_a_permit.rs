// A service is called only with a permit, because other code cannot make a `Call`.

use machine::contract::{Answer, Attempt, Call, Irreversible, Perform, Tool};
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

async fn send<P: Perform<SendMail>>(smtp: P, attempt: Attempt<SendMail>) -> Answer {
    smtp.perform(&Call { attempt }).await
}

fn main() {}
