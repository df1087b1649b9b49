// M0022

use machine::{actor::Human, machine};

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, by = human)]
    Placed,

    #[terminal]
    Shipped,
}

fn ship(order: Order<order::Placed>, ann: &Human) -> Order<order::Shipped> {
    order.ship(ann)
}

fn main() {}
