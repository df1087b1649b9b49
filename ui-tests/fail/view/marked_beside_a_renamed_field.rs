// M0020: another field has the name of the marked one in the data.

use machine::machine;
use serde::{Deserialize, Serialize};

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
        #[serde(rename = "card_number")]
        card: String,
    },
}

fn main() {
    let _shipped = Order::new().ship("5 Elm St".to_owned(), "4111".to_owned());
}
