// An irreversible call is not repeated, however often it fails.

use machine::actor::ToolNode;
use machine::contract::{Irreversible, Perform, Planned, Tool};
use machine::effects::ReadBackoff;
use machine::store::Store;
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

async fn send<P: Perform<SendMail> + 'static>(
    store: Store,
    mail: Planned<SendMail>,
    smtp: P,
    by: &ToolNode,
) {
    let _settled = store.perform_with_retries(mail, smtp, ReadBackoff, by).await;
}

fn main() {}
