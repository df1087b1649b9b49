// A restricted transition takes the actor.

use machine::{actor::ToolNode, machine};

#[machine]
enum Order {
    #[initial]
    #[on(ship(carrier) => Shipped, by = ToolNode)]
    Draft,

    #[terminal]
    Shipped { carrier: String },
}

fn main() {
    let _shipped = Order::new().ship("rail".to_owned());
}
