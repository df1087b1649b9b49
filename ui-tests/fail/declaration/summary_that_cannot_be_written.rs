// A store keeps the summary of a machine as JSON, so it implements `Serialize` and `Deserialize`.

use machine::machine;
use machine::stored::Context;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Customer {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
struct Effort {
    parcels: u64,
}

impl Context for Customer {
    type Summary = Effort;
}

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
