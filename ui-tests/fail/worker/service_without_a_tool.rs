// A worker runs a tool with a service that performs it; this type performs none.

use machine::contract::{Irreversible, Tool};
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
}

struct Bank;

fn run(worker: Worker) -> Worker {
    worker.tool(Bank)
}

fn main() {}
