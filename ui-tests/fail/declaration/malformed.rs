// Attributes that cannot be parsed. States and triggers are named after the mistakes.

use machine::actor::{Actors, ToolNode};
use machine::machine;
use machine::stored::Context;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Customer {
    name: String,
}

impl Context for Customer {
    type Summary = ();
}

fn has_parcel(packed: &order::Packed, _: &Customer) -> Result<(), String> {
    if packed.parcel == 0 { Err("there is no parcel".to_owned()) } else { Ok(()) }
}

#[machine(
    durable,
    context = Customer,
    // M0018: `version` takes a number.
    version = "2",
    // M0017
    upgrade(1 -> rename),
    // M0005: the other options still apply.
    on(arrow(reason) -> Cancelled, from = Open, by = ToolNode),
    // M0005
    on(misspelt_from(reason) => Cancelled, form = Open),
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[group(Open)]
    // M0005: `from` is an option of group transitions, which are declared on the enum.
    #[on(from_on_a_state(reason) => Cancelled, from = Open)]
    // M0005
    #[on(unknown_option(reason) => Cancelled, actor = ToolNode)]
    // M0005: the error type of the guard is part of the method's return type.
    #[on(guard_without_error(reason) => Cancelled, guard = has_parcel)]
    // M0005: `was` takes a name in quotes.
    #[on(trigger_was_not_text(reason) => Cancelled, was = send)]
    // M0005: `was` takes a name in quotes.
    #[on(item_was_not_text(#[was = cause] reason) => Cancelled)]
    // M0005: payload items accept only `was` and `audience`.
    #[on(item_with_another_attribute(#[serde(default)] reason) => Cancelled)]
    // M0005: a computed item is not in the journal; its field has the mark.
    #[on(audience_of_a_computed_item(#[audience(human)] reason = String::new()) => Cancelled)]
    // M0005: two audiences for one item.
    #[on(item_audience_twice(#[audience(human)] #[audience(human)] reason) => Cancelled)]
    // M0005: `everyone` is not an audience of an item.
    #[on(item_with_an_unknown_audience(#[audience(everyone)] reason) => Cancelled)]
    // M0017
    #[upgrade]
    // M0016: an old name is not empty.
    #[was = ""]
    Packed {
        // M0016: on a field.
        #[was("number")]
        parcel: u64,
        // M0019: no audience is given.
        #[audience]
        address: String,
    },

    #[terminal]
    Cancelled { reason: String },
}

// M0002
#[machine(context = )]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn packed() -> Order<order::Packed> {
    Order::new(Customer { name: "Bob".to_owned() }, 7, "5 Elm St".to_owned())
}

fn cancel(by: &ToolNode) {
    let late = || "too late".to_owned();
    let cancelled = packed().arrow(late(), by);
    assert_eq!(cancelled.context().name, "Bob");
    assert_eq!(cancelled.state().reason, "too late");
    assert_eq!(packed().misspelt_from(late()).state().reason, "too late");
    let _cancelled = packed().from_on_a_state(late());
    let _cancelled = packed().unknown_option(late(), by);
    assert_eq!(packed().guard_without_error(late()).unwrap().state().reason, "too late");
    let _cancelled = packed().trigger_was_not_text(late());
    let _cancelled = packed().item_was_not_text(late());
    let _cancelled = packed().item_with_another_attribute(late());
    let _cancelled = packed().audience_of_a_computed_item();
    let _cancelled = packed().item_audience_twice(late());
    let _cancelled = packed().item_with_an_unknown_audience(late());
}

fn main() {
    let closed = Door::new().open().close();
    assert_eq!(AnyDoor::from(closed).status(), door::Status::Closed);
    cancel(&Actors::issue("shop").unwrap().tool_node);
}
