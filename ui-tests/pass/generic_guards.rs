//! A generic machine can have guards, groups and restricted transitions.

use machine::actor::{Actors, ToolNode};
use machine::machine;

#[machine(on(drop_it(why: &'a str) => Dropped, from = Whole, by = ToolNode, guard = known -> String))]
#[derive(Debug, Clone, PartialEq)]
enum Parcel<'a, T: PartialEq> {
    #[initial]
    #[group(Whole)]
    #[on(fill(content) => Full)]
    Empty,

    #[group(Whole)]
    #[on(check(expected: T) => Checked, guard = is_same -> &'static str)]
    Full { content: T },

    #[terminal]
    Checked { content: T },

    #[terminal]
    Dropped,
}

fn is_same<T: PartialEq>(full: &parcel::Full<T>, expected: &T) -> Result<(), &'static str> {
    if full.content == *expected { Ok(()) } else { Err("something else is in it") }
}

fn known<S>(_state: &S, why: &str) -> Result<(), String> {
    if why.is_empty() { Err("no reason given".to_owned()) } else { Ok(()) }
}

fn whole<S: parcel::Whole>(parcel: Parcel<'_, S, u8>) -> Parcel<'_, S, u8> {
    parcel
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let full = whole(whole(Parcel::new()).fill(7));
    let refused = full.check(8).unwrap_err();
    assert_eq!(refused.reason, "something else is in it");
    assert_eq!(refused.machine.check(7).unwrap().state().content, 7);

    let empty = Parcel::<parcel::Empty, u8>::new();
    let refused = empty.drop_it("", &actors.tool_node).unwrap_err();
    assert_eq!(refused.reason, "no reason given");
    let event = parcel::Event::DropIt { why: "wet" };
    let any = AnyParcel::from(refused.machine.fill(1));
    assert_eq!(any.why_not(&event, &actors.tool_node), None);
    assert_eq!(any.apply(event, &actors.tool_node).unwrap().status(), parcel::Status::Dropped);
}
