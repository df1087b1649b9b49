// Identities of tools. Structs are named after the mistakes.

use machine::contract::Tool;
use serde::{Deserialize, Serialize};

// M0303: no field has a similar name.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.unknown, irreversible, identity = [order, customer])]
struct Unknown {
    order: u32,
    cents: u32,
}

// M0303: a field once.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.twice, irreversible, identity = [order, order])]
struct Twice {
    order: u32,
}

// M0303: all calls would be one action.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.empty, irreversible, identity = [])]
struct Empty {
    order: u32,
}

// M0301: a field, not an expression.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.text, irreversible, identity = "order")]
struct Text {
    order: u32,
}

fn main() {}
