// M0005: two audiences for one item.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(cancel(#[audience(human)] #[audience(human)] reason: String) => Cancelled)]
    Placed,

    #[terminal]
    Cancelled,
}

fn main() {
    let _cancelled = Order::new().cancel("too late".to_owned());
}
