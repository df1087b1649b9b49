// An item of the payload is written to the journal.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Address {
    pub city: String,
}

#[machine(durable)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship(to: Address) => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship(Address { city: "Oslo".to_owned() });
    let _id = shipped.id();
}
