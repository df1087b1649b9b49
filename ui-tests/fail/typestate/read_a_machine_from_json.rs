// A machine comes from a store, or from data that was verified.

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
