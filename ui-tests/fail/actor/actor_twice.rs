// M0115

use machine::actor::{Actors, ToolNode};
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, by = ToolNode | ToolNode)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let shipped = Order::new().ship(&actors.tool_node);
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
