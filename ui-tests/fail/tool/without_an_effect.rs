// M0301: a tool says whether its calls can be undone.

use machine::contract::Tool;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, receipt = String)]
struct Charge {
    cents: u32,
}

fn main() {
    assert_eq!(Charge::METHOD, "charge");
}
