// M0019: no audience is given.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship(address) => Shipped)]
    Placed,

    #[terminal]
    Shipped {
        #[audience]
        address: String,
    },
}

fn main() {
    let _shipped = Order::new().ship("5 Elm St".to_owned());
}
