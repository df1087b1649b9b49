// M0020: the names in the data are not those of the fields.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship(address, card) => Shipped)]
    Placed,

    #[terminal]
    #[serde(rename_all = "camelCase")]
    Shipped {
        #[audience(human)]
        address: String,
        card: String,
    },
}

fn main() {
    let _shipped = Order::new().ship("5 Elm St".to_owned(), "4111".to_owned());
}
