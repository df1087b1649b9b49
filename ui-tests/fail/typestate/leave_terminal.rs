// No transition leaves a terminal state of a user-defined machine.

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
