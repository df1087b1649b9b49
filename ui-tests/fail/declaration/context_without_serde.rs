// The context is stored with the machine.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Address {
    pub city: String,
}

impl machine::stored::Context for Address {
    type Summary = ();
}

#[machine(durable, context = Address)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new(Address { city: "Oslo".to_owned() }).ship();
    let _id = shipped.id();
}
