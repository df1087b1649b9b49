// The outcome of a choice must be used.

#![deny(unused_must_use)]

use machine::machine;

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
    Order::new().ship(7);
}
