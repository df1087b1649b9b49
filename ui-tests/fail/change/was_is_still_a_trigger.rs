// M0123: there is still a trigger of that name from the same state.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(send => Shipped)]
    #[on(ship => Shipped, was = "send")]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().send();
    let _shipped = Order::new().ship();
}
