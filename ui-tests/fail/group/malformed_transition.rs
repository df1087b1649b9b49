// M0005: the other options still apply.

use machine::actor::{Actors, ToolNode};
use machine::machine;

#[machine(context = String, on(cancel(reason) -> Cancelled, from = Open, by = ToolNode))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled { reason: String },
}

fn cancel(by: &ToolNode) {
    let cancelled = Order::new("Bob".to_owned()).cancel("too late".to_owned(), by);
    assert_eq!(cancelled.context(), "Bob");
    assert_eq!(cancelled.state().reason, "too late");
}

fn main() {
    cancel(&Actors::issue("shop").unwrap().tool_node);
}
