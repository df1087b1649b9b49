// Every target of the choice is handled.

use machine::machine;
use order::AfterShip;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    match Order::new().ship(7) {
        AfterShip::Shipped(_shipped) => {}
    }
}
