// M0303: the identity names a field.

use machine::contract::Tool;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible, identity = ordr)]
struct Refund {
    order: u32,
    cents: u32,
}

fn main() {
    println!("{:?}", Refund { order: 17, cents: 5 }.identity());
}
