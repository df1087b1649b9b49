// A choice is legal only from the states that declare it.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    Placed,

    #[on(ship(weight: u32) => if weight > 20 { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().ship(7);
}
