//! Payload items can have any name: the variables of the macro do not clash with them.
use machine::actor::{Actors, ToolNode};
use machine::machine;

#[machine(context = u8)]
#[derive(Debug, Clone, PartialEq)]
pub enum Parcel {
    #[initial]
    #[on(send(payload, by, machine, context, core, actor, event) => Sent, by = ToolNode)]
    Packed { context: u8 },
    #[terminal]
    Sent { payload: u8, by: u8, machine: u8, context: u8, core: u8, actor: u8, event: u8 },
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let sent = Parcel::new(1, 2).send(1, 2, 3, 4, 5, 6, 7, &actors.tool_node);
    assert_eq!((sent.state().by, sent.state().event, *sent.context()), (2, 7, 1));
    let event = parcel::Event::Send {
        payload: 1,
        by: 2,
        machine: 3,
        context: 4,
        core: 5,
        actor: 6,
        event: 7,
    };
    let any = AnyParcel::from(Parcel::new(1, 2)).apply(event, &actors.tool_node).unwrap();
    assert_eq!(any.status(), parcel::Status::Sent);
}
