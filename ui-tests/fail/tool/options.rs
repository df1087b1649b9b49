// Options of `#[tool]`. Structs are named after the mistakes.

use machine::contract::Tool;
use serde::{Deserialize, Serialize};

// M0301: the tool has no attribute.
#[derive(Debug, Serialize, Deserialize, Tool)]
struct WithoutOptions {
    cents: u32,
}

// M0301: the tool has no name.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(irreversible)]
struct WithoutAName {
    cents: u32,
}

// M0301: `reciept` is no option.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, reciept = String)]
struct UnknownOption {
    cents: u32,
}

// M0301: a tool has one effect.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, idempotent)]
struct TwoEffects {
    cents: u32,
}

// M0301: a tool has one name.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
#[tool(bank.refund, irreversible)]
struct TwoTools {
    cents: u32,
}

// M0301: the text is a number.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, about = 17)]
struct NoText {
    cents: u32,
}

fn main() {}
