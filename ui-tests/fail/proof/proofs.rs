// Graphs whose declared properties do not hold. States and triggers are named after the mistakes.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner, ToolNode};
use machine::machine;

#[machine(
    // M0201: a group transition leaves every state of the group.
    on(terminal_member => Cancelled, from = Open),
)]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    // M0122: the journal names one actor for each deadline.
    #[on(two_actors => Cancelled, by = GraphRunner | ToolNode, after = limit)]
    Packed { limit: Duration },

    #[group(Open)]
    #[terminal]
    // M0201: a deadline is a transition, and nothing leaves a terminal state.
    #[on(leaves_a_terminal_state => Packed, by = GraphRunner, after = limit)]
    Shipped { limit: Duration },

    #[terminal]
    // M0201: the transition has to go, so its missing `limit` is not reported.
    #[on(leaves_without_a_limit => Packed)]
    Cancelled,
}

#[machine]
enum Parcel {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    // M0202: one missing transition makes one error, however many states lie behind it.
    #[on(search => Searching)]
    Lost,

    #[on(give_up => Lost)]
    #[on(find => Found)]
    Searching,

    #[terminal]
    Found,
}

#[machine(on(publish => OnlyAfterAGroup, from = Reviewed))]
enum Post {
    // M0205: no state precedes the initial one.
    #[initial]
    #[only_after(Accepted)]
    #[on(review => Accepted)]
    #[on(overrule => Overruled)]
    #[on(leak => Leaked)]
    #[on(wait(days = 0) => NoWayOutOfItself)]
    BeginsBeforeItsGate,

    // M0204
    #[on(wait_on(days = days + 1) => NoWayOutOfItself)]
    NoWayOutOfItself { days: u32 },

    #[group(Reviewed)]
    #[on(send => OnlyAfterEitherGate)]
    Accepted,

    #[group(Reviewed)]
    #[on(send => OnlyAfterEitherGate)]
    #[on(print => MisspeltGate)]
    Overruled,

    #[on(publish => OnlyAfterAGroup)]
    #[on(send => OnlyAfterEitherGate)]
    Leaked,

    // M0205: the gate is a group.
    #[only_after(Reviewed)]
    #[terminal]
    OnlyAfterAGroup,

    // M0205: two of the three paths pass a gate; the third avoids both.
    #[only_after(Accepted | Overruled)]
    #[terminal]
    OnlyAfterEitherGate,

    // M0104
    #[only_after(Acepted)]
    #[terminal]
    MisspeltGate,
}

fn packed() -> Order<order::Packed> {
    Order::new(Duration::from_secs(30))
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let _packed = packed().ship().leaves_a_terminal_state(&actors.graph_runner);
    let _cancelled = packed().ship().terminal_member();
    let _cancelled = packed().two_actors(&actors.tool_node);
    let _published = Post::new().leak().publish();
    let _sent = Post::new().leak().send();
    let _printed = Post::new().overrule().print();
    assert_eq!(Post::new().wait().wait_on().state().days, 1);
    match AnyParcel::from(Parcel::new()) {
        AnyParcel::Packed(packed) => drop(packed.ship()),
        AnyParcel::Lost(lost) => drop(lost.search().find()),
        AnyParcel::Searching(searching) => drop(searching.give_up()),
        AnyParcel::Shipped(_) | AnyParcel::Found(_) => {}
    }
}
