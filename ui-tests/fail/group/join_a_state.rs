// Nor does a state join later, though it is one of the same machine.

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
