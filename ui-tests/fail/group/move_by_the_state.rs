// A group transition cannot be called through the state, which would bypass the actor.

use machine::actor::ToolNode;
use machine::machine;

#[machine(on(cancel => Cancelled, from = Open, by = ToolNode))]
enum Order {
    #[initial]
    #[group(Open)]
    Placed,

    #[terminal]
    Cancelled,
}

fn close<S: order::Open>(order: Order<S>) -> Order<order::Cancelled> {
    S::cancel(order, ())
}

fn main() {
    let _cancelled = close(Order::new());
}
