// M0014: several actors are separated by `|`.

use machine::actor::{GraphRunner, ToolNode};
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, by = ToolNode, by = GraphRunner)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship(&ToolNode);
    let _shipped = Order::new().ship(&GraphRunner);
}
