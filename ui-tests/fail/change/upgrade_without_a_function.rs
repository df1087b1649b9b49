// M0017

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable, version = 2)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[upgrade]
    Packed { parcel: u64 },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(7).ship();
}
