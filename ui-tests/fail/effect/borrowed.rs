// A permit and a call are for one use. Functions and types are named after the mistakes.

use std::sync::Mutex;

use machine::contract::{Answer, Applied, Call, Irreversible, Perform, Permit, Tool};
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
    type Refusal = String;
}

struct CallGivenToAThread;

impl Perform<SendMail> for CallGivenToAThread {
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        // A call does not outlive its permit, so it cannot move to another thread.
        std::thread::spawn(move || println!("sending to {}", call.arguments.to));
        Ok(Applied::new("250 queued"))
    }
}

struct CallKeptForLater {
    kept: Mutex<Option<&'static Call<SendMail>>>,
}

impl Perform<SendMail> for CallKeptForLater {
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        // A call is lent to the service, which cannot keep it to call again later.
        *self.kept.lock().unwrap() = Some(call);
        Ok(Applied::new("250 queued"))
    }
}

// A permit is for one call, which consumes it.
async fn permit_used_twice(permit: Permit<SendMail>) {
    let _first = permit.call(CallGivenToAThread).await;
    let _second = permit.call(CallGivenToAThread).await;
}

fn main() {}
