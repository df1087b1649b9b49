// The items of an outcome have the types of the call. Triggers are named after the mistakes.

use machine::contract::{CallError, Outcome, Tool};
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent, receipt = String)]
struct Read {
    path: String,
}

type Calls = Vec<Read>;

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Search {
    #[initial]
    #[invoke(read, done = read_one, failed = not_why)]
    #[on(read_one(text) => Reading(reads = vec![]))]
    // M0139: `failed` brings a `CallError`.
    #[on(not_why(why: String) => Done(found = vec![]))]
    One { read: Read },

    #[invoke(reads: [Read], each = counted, done = receipts_only)]
    // M0139: the index of a call is a `usize`.
    #[on(counted(outcome: Outcome<Read>, index: u32) => Self)]
    // M0139: `done` of a set brings the outcomes, because some may have failed.
    #[on(receipts_only(found) => Done)]
    Reading { text: String, reads: Calls },

    #[terminal]
    Done { found: Vec<String> },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Other {
    #[initial]
    #[invoke(reads: [Read], each = one, done = all)]
    // M0139: `each` brings the outcome of a call.
    #[on(one(outcome: Result<String, String>, index: usize) => Self)]
    #[on(all(found) => Done)]
    Reading { reads: Calls },

    #[terminal]
    Done { found: Vec<Result<String, CallError>> },
}

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.size, idempotent, receipt = u64, refusal = u16)]
struct Size {
    path: String,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Measure {
    #[initial]
    #[invoke(size, done = measured, failed = refused)]
    // M0139: a refusal is no receipt.
    #[on(measured(width: u16) => Measured)]
    #[on(refused(error) => Refused)]
    Measuring { size: Size },

    #[terminal]
    Measured,

    #[terminal]
    Refused { error: CallError<u16> },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Another {
    #[initial]
    #[invoke(reads: [Read], each = one, done = all)]
    // M0139: the calls are those of another tool.
    #[on(one(outcome: Outcome<Size>, index: usize) => Self)]
    #[on(all(found) => Done)]
    Reading { reads: Calls },

    #[terminal]
    Done { found: Vec<Outcome<Read>> },
}

fn main() {}
