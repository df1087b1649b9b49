// M0005: the other options still apply.

use machine::actor::ToolNode;
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

fn main() {
    let cancelled = Order::new("Bob".to_owned()).cancel("too late".to_owned(), &ToolNode);
    assert_eq!(cancelled.context(), "Bob");
    assert_eq!(cancelled.state().reason, "too late");
}
