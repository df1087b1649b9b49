// M0014: several actors are separated by `|`.

use machine::actor::{Actors, GraphRunner, ToolNode};
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, by = ToolNode, by = GraphRunner)]
    Packed,

    #[terminal]
    Shipped,
}

fn ship(node: &ToolNode, runner: &GraphRunner) {
    let _shipped = Order::new().ship(node);
    let _shipped = Order::new().ship(runner);
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    ship(&actors.tool_node, &actors.graph_runner);
}
