// A service answers with a receipt of its tool.

use machine::contract::{Answer, Applied, Call, Irreversible, Perform, Tool};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Transfer {
    number: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct MessageId {
    id: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct SendMail {
    to: String,
}

impl Tool for SendMail {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = MessageId;
}

struct Smtp;

impl Perform<SendMail> for Smtp {
    async fn perform(&self, _call: &Call<SendMail>) -> Answer<Transfer> {
        Ok(Applied::new(Transfer { number: 7 }))
    }
}

fn main() {}
