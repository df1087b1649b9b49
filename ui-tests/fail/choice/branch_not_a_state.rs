// M0005: a branch is a state, `Self` or another choice.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { 3 } else { Shipped })]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().ship(7);
}
