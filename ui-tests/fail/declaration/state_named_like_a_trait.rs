// M0010: a trigger with actors declares a trait of this name.

use machine::actor::{Actors, ToolNode};
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
    let actors = Actors::issue("shop").unwrap();
    let _shipped = Order::new().pay().ship(&actors.tool_node);
}
