// A call is lent to the service, which cannot keep it to call again later.

use std::sync::Mutex;

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

struct Keeper {
    kept: Mutex<Option<&'static Call<SendMail>>>,
}

impl Perform<SendMail> for Keeper {
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        *self.kept.lock().unwrap() = Some(call);
        Ok(Applied::new("250 queued"))
    }
}

fn main() {}
