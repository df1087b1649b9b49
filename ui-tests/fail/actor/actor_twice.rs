// M0115

use machine::actor::ToolNode;
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
    let shipped = Order::new().ship(&ToolNode);
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
