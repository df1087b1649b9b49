// M0005

use machine::actor::{Actors, ToolNode};
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, actor = ToolNode)]
    Packed,

    #[terminal]
    Shipped,
}

fn ship(by: &ToolNode) {
    let _shipped = Order::new().ship(by);
}

fn main() {
    ship(&Actors::issue("shop").unwrap().tool_node);
}
