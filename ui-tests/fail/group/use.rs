// Code for the states of a group. Functions are named after the mistakes.

use machine::actor::{GraphRunner, ToolNode};
use machine::machine;

#[machine(on(cancel => Cancelled, from = Open, by = GraphRunner))]
enum Order {
    #[initial]
    #[on(pay => Paid)]
    #[on(cancel => Cancelled, by = ToolNode)]
    Draft,

    #[group(Open)]
    #[on(pack => Packed)]
    Paid,

    #[group(Open)]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn remind<S: order::Open>(order: Order<S>) -> Order<S> {
    order
}

// An actor of a state outside the group is not an actor of the group.
fn actor_of_another_state(paid: Order<order::Paid>, by: &ToolNode) {
    let _cancelled = paid.cancel(by);
}

// Code for any state of a group can make the transitions of the group, not those of one state.
fn move_of_one_state<S: order::Open>(order: Order<S>) -> Order<order::Packed> {
    order.pack()
}

// Code for the states of a group accepts no other state.
fn state_outside(packed: Order<order::Packed>) {
    let _shipped = remind(remind(packed).ship());
}

fn main() {}
