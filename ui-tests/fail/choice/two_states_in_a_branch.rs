// M0005: a branch leads to one state.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused Returned } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Returned,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().ship(7);
}
