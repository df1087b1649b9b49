// The enum has a variant for each target, and no others.

use machine::machine;
use order::AfterShip;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused } else { Shipped })]
    #[on(cancel => Cancelled)]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    match Order::new().ship(7) {
        AfterShip::Cancelled(_cancelled) => {}
        _ => {}
    }
}
