// A call does not outlive its permit, so it cannot move to another thread.

use machine::contract::{Answer, Applied, Call, Irreversible, Perform, Tool};
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

struct Smtp;

impl Perform<SendMail> for Smtp {
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        std::thread::spawn(move || println!("sending to {}", call.arguments().to));
        Ok(Applied::new("250 queued"))
    }
}

fn main() {}
