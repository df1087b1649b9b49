// The type of a field is neither written nor read by serde.

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
    #[on(ship(to) => Shipped)]
    Packed,

    #[terminal]
    Shipped { to: Address },
}

fn main() {
    let shipped = Order::new().ship(Address { city: "Oslo".to_owned() });
    assert_eq!(shipped.state().to.city, "Oslo");
}
