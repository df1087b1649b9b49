// M0010: a trigger with actors declares a trait of this name.

use machine::actor::ToolNode;
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pay => MayShip)]
    Placed,

    #[on(ship => Shipped, by = ToolNode)]
    MayShip,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().pay().ship(&ToolNode);
}
