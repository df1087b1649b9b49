// `context` is a name only where the machine has a context.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > *context { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().ship(7);
}
