// M0014: two audiences for one field.

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
        #[audience(human)]
        #[audience(diagnostic)]
        address: String,
    },
}

fn main() {
    let _shipped = Order::new().ship("5 Elm St".to_owned());
}
