// The derive is found although it is not on the line above.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(
    Debug,
    Clone,
    Serialize,
    Deserialize,
)]
/// An order.
#[allow(dead_code)]
// M0023: the derive is above the attribute.
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
