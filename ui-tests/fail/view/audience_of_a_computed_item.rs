// M0005: a computed item is not in the journal; its field has the mark.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(cancel(#[audience(human)] reason = "late".to_owned()) => Cancelled)]
    Placed,

    #[terminal]
    Cancelled {
        reason: String,
    },
}

fn main() {
    let _cancelled = Order::new().cancel();
}
