// Code for the states of a group accepts no other state.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(pack => Packed)]
    Placed,

    #[group(Open)]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn remind<S: order::Open>(order: Order<S>) -> Order<S> {
    order
}

fn main() {
    let packed = remind(remind(Order::new()).pack());
    let _shipped = remind(packed.ship());
}
