// M0015: the last `if` of a chain has an `else` as well.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused } else if weight > 10 { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().ship(7);
}
