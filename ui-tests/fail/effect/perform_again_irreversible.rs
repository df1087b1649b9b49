// Only an idempotent call runs again after its worker ended.

use machine::actor::ToolNode;
use machine::contract::{Execution, Irreversible, Perform, Tool, execution::Running};
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

async fn resume<P: Perform<SendMail> + 'static>(
    store: Store,
    running: Execution<Running>,
    smtp: P,
    by: &ToolNode,
) {
    let _settled = store.perform_again::<SendMail>(running, smtp, by).await;
}

fn main() {}
