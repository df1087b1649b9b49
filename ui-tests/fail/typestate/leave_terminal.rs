// The same applies to user-defined machines: no transition leaves a terminal state.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship();
    let _ = shipped.ship();
}
