// M0020: a flattened type may have the name of a field with a mark.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Card {
    number: String,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship(address, card) => Shipped)]
    Placed,

    #[terminal]
    Shipped {
        #[audience(human)]
        address: String,
        #[serde(flatten)]
        card: Card,
    },
}

fn main() {
    let _shipped = Order::new().ship("5 Elm St".to_owned(), Card { number: "4111".to_owned() });
}
