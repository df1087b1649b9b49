// Services that do not perform a tool. Functions are named after the mistakes.

use machine::contract::{Answer, Applied, Call, Irreversible, Perform, Tool};
use machine::worker::Worker;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Pay {
    cents: u32,
}

impl Tool for Pay {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;
}

#[derive(Debug, Serialize, Deserialize)]
struct Refund {
    cents: u32,
}

impl Tool for Refund {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "refund";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;
}

struct Bank;

impl Perform<Pay> for Bank {
    async fn perform(&self, _: &Call<Pay>) -> Answer {
        Ok(Applied::new("paid"))
    }
}

struct Branch;

// A worker runs a tool with a service that performs it; this type performs none.
fn service_without_a_tool(worker: Worker) -> Worker {
    worker.tool(Branch)
}

// A worker runs a tool with a service that performs this tool.
fn tool_of_another_service(worker: Worker) -> Worker {
    worker.tool::<Refund>(Bank)
}

fn main() {}
