// M0010: a choice declares an enum of this name.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused } else { AfterShip })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    AfterShip,
}

fn main() {
    let _after = Order::new().ship(7);
}
