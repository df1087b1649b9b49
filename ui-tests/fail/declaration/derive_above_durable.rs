// The derive is above the attribute.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[machine(durable)]
enum Order {
    #[initial]
    #[on(ship(parcel) => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new().ship(7);
    assert_eq!(shipped.state().parcel, 7);
}
