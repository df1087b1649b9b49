// A machine comes out of a store, or out of a claim that was verified.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Draft,

    #[terminal]
    Shipped,
}

fn main() {
    let _order: AnyOrder = serde_json::from_str("{}").unwrap();
}
