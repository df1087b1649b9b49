// A tool is performed by a service: a type that implements `Perform`, or a function.

use machine::actor::ToolNode;
use machine::contract::{Irreversible, Planned, Tool};
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

async fn send(store: Store, mail: Planned<SendMail>, by: &ToolNode) {
    let _settled = store.perform(mail, |mail: SendMail| println!("to {}", mail.to), by).await;
}

fn main() {}
