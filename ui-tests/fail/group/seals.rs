// Ways around the seals of a group. Each is named after the mistake.

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

#[machine]
enum Invoice {
    #[initial]
    #[group(Due)]
    #[on(pay => JoinAState)]
    Sent,

    #[terminal]
    JoinAState,
}

struct JoinFromOutside;

// A state of the same machine cannot join a group later.
impl invoice::Due for invoice::JoinAState {}

// Only the declaration adds states to a group.
impl invoice::Due for JoinFromOutside {}

// A state of one machine cannot join a group of another.
impl invoice::Due for order::Placed {}

// A group transition cannot be called through the state, which would bypass the actor.
fn move_by_the_state<S: order::Open>(order: Order<S>) -> Order<order::Cancelled> {
    S::cancel(order, ())
}

fn main() {}
