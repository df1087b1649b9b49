// A state owns its data: it cannot borrow from the text that it is read from.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed {
        #[serde(default)]
        label: &'static str,
    },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new("tea").ship();
}
