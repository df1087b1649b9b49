// A state of one machine cannot join a group of another.

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

#[machine]
enum Invoice {
    #[initial]
    #[on(pay => Paid)]
    Due,

    #[terminal]
    Paid,
}

impl order::Open for invoice::Due {}

fn main() {}
