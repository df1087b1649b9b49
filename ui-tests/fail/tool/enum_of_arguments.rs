// M0302: the arguments of a tool have names.

use machine::contract::Tool;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible)]
enum Charge {
    Cents(u32),
}

fn main() {
    println!("{:?}", Charge::Cents(5));
}
