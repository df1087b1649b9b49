// A permit is for one tool. A service for another tool cannot use it.

use machine::contract::{Answer, Applied, Call, Irreversible, Outcome, Perform, Permit, Tool};
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

#[derive(Debug, Serialize, Deserialize)]
struct Pay {
    cents: u64,
}

impl Tool for Pay {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = Irreversible;
    type Receipt = String;
}

struct Bank;

impl Perform<Pay> for Bank {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        Ok(Applied::new(format!("paid {}", call.arguments().cents)))
    }
}

async fn pay(permit: Permit<SendMail>) -> Outcome {
    permit.call(Bank).await
}

fn main() {}
