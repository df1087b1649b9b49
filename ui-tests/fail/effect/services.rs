// Services and their tools. Functions and types are named after the mistakes.

use machine::actor::{ReasoningNode, ToolNode};
use machine::contract::{
    Answer, Applied, Call, Contract, InvalidContract, Irreversible, Unsettled, Perform, Permit,
    Planned, Tool,
};
use machine::store::Store;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct NotATool {
    to: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Transfer {
    number: u64,
}

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

#[derive(Debug, Serialize, Deserialize)]
struct Pay {
    cents: u64,
}

impl Tool for Pay {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = Irreversible;
    type Receipt = Transfer;
    type Refusal = String;
}

struct Bank;

impl Perform<Pay> for Bank {
    async fn perform(&self, _call: &Call<Pay>) -> Answer<Transfer> {
        Ok(Applied::new(Transfer { number: 7 }))
    }
}

struct ReceiptOfAnotherTool;

impl Perform<SendMail> for ReceiptOfAnotherTool {
    // A service answers with a receipt of its tool.
    async fn perform(&self, _call: &Call<SendMail>) -> Answer<Transfer> {
        Ok(Applied::new(Transfer { number: 7 }))
    }
}

// A permit is for one tool. A service for another tool cannot use it.
async fn service_of_another_tool(permit: Permit<SendMail>) -> Unsettled {
    permit.call(Bank).await
}

// A tool is performed by a service: a type that implements `Perform`, or a function.
async fn not_a_service(store: Store, mail: Planned<SendMail>, by: &ToolNode) {
    let _settled = store.perform(mail, |mail: SendMail| println!("to {}", mail.to), by).await;
}

// An action is a call of a tool: a type that implements `Tool`.
fn not_a_tool(mail: &NotATool, by: &ReasoningNode) -> Result<Contract, InvalidContract> {
    Contract::of(mail, by)
}

fn main() {}
