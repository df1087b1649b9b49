// A state of the same machine cannot join a group later.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,
}

impl order::Open for order::Shipped {}

fn main() {}
