// M0020: a mark belongs to one name in the data. States are named after the mistakes.

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
    #[on(pay(address, card) => FlattenedField)]
    #[on(ship(address, card) => RenamedState)]
    Placed,

    #[terminal]
    FlattenedField {
        #[audience(human)]
        address: String,
        // M0020: a flattened type may have the name of a field with a mark.
        #[serde(flatten)]
        card: Card,
    },

    #[terminal]
    // M0020: the names in the data are not those of the fields.
    #[serde(rename_all = "camelCase")]
    RenamedState {
        #[audience(human)]
        address: String,
        card: String,
    },
}

fn main() {
    let card = Card { number: "4111".to_owned() };
    let _paid = Order::new().pay("5 Elm St".to_owned(), card);
    let _shipped = Order::new().ship("5 Elm St".to_owned(), "4111".to_owned());
}
