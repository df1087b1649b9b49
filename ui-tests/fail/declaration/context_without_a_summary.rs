// A context names the summary of the past that its rules need; `()` for none.

use machine::machine;
use machine::stored::Context;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Customer {
    name: String,
}

impl Context for Customer {}

#[machine(durable, context = Customer)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship(parcel) => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let order = Order::new(Customer { name: "Bob".to_owned() });
    let shipped = order.ship(7);
    assert_eq!(shipped.context().name, "Bob");
}
