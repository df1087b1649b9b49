// M0005

use machine::actor::ToolNode;
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, actor = ToolNode)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship(&ToolNode);
}
