// A choice returns an enum, and not one of the states that it can lead to.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[on(deliver => Delivered)]
    Shipped,

    #[terminal]
    Delivered,
}

fn main() {
    let _delivered = Order::new().ship(7).deliver();
}
