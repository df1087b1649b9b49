// The type of a field is not `Clone`, and the enum derives it.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
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
