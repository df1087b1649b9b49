//! A group can have transitions, and a trait for code that accepts any of its states.

use machine::actor::{Actors, Anyone, ToolNode};
use machine::machine;

#[machine(
    on(cancel(reason) => Cancelled, from = Open, by = ToolNode),
    on(remind(text: String) => Reminded, from = Unpaid),
)]
#[derive(Debug, Clone, PartialEq)]
enum Order {
    #[initial]
    #[group(Open | Unpaid)]
    #[on(pay => Paid)]
    Placed,

    #[group(Open)]
    #[group(Unpaid)]
    #[on(pay => Paid)]
    Reminded,

    #[group(Open)]
    #[on(ship => Shipped)]
    Paid,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled { reason: String },
}

/// Accepts the states of one group.
fn note<S: order::Open>(order: Order<S>, notes: &mut u32) -> Order<S> {
    *notes += 1;
    order
}

/// Accepts a state that is in both groups.
fn count<S: order::Open + order::Unpaid>(_order: &Order<S>) -> usize {
    1
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let mut notes = 0;
    let placed = note(Order::new(), &mut notes);
    assert_eq!(count(&placed), 1);
    let reminded = note(placed.remind("please".to_owned()), &mut notes).remind("now".to_owned());
    assert_eq!(count(&reminded), 1);
    let paid = note(reminded.pay(), &mut notes);
    assert_eq!(notes, 3);
    let cancelled = paid.cancel("changed my mind".to_owned(), &actors.tool_node);
    assert_eq!(cancelled.state().reason, "changed my mind");

    // The definition lists the transitions of each state.
    let from = |trigger| {
        let edges = order::DEFINITION.edges.iter().filter(move |edge| edge.trigger == trigger);
        edges.map(|edge| &*order::DEFINITION.states[edge.from].name).collect::<Vec<_>>()
    };
    assert_eq!(from("cancel"), ["placed", "reminded", "paid"]);
    assert_eq!(from("remind"), ["placed", "reminded"]);
    let cancel = order::Event::Cancel { reason: "late".to_owned() };
    let any = AnyOrder::from(Order::new().pay());
    assert!(any.why_not(&cancel, &Anyone).is_some());
    assert_eq!(any.apply(cancel, &actors.tool_node).unwrap().status(), order::Status::Cancelled);
}
