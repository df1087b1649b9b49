// A permit is for one call, which consumes it.

use machine::contract::{Irreversible, Perform, Permit, Tool};
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

async fn send_twice<P: Perform<SendMail> + Clone + 'static>(permit: Permit<SendMail>, smtp: P) {
    let _first = permit.call(smtp.clone()).await;
    let _second = permit.call(smtp).await;
}

fn main() {}
