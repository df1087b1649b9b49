//! States, fields and payload items can have any name, including names that the macro uses itself,
//! and those of prelude items.

use machine::actor::{Actors, ToolNode};
use machine::machine;
use machine::stored::{Context, Unverified};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Owner(String);

impl Context for Owner {
    type Summary = ();
}

#[machine(durable, context = Owner)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Job {
    #[initial]
    #[on(start(by, machine, event, actor, payload) => Busy, by = ToolNode)]
    Idle { context: u8, core: u8, journal: u8 },

    #[on(r#move(reason: String, journal = journal + 1) => Busy)]
    #[on(end(r#type, core = journal + by) => Done, by = ToolNode)]
    Busy {
        context: u8,
        core: u8,
        journal: u8,
        by: u8,
        machine: u8,
        event: u8,
        actor: u8,
        payload: u8,
    },

    #[terminal]
    Done { context: u8, core: u8, machine: u8, r#type: String },
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let owner = || Owner("Bob".to_owned());
    let busy = Job::new(owner(), 1, 2, 3).start(4, 5, 6, 7, 8, &actors.tool_node);
    let busy = busy.r#move("no room".to_owned());
    assert_eq!(busy.context(), &owner());
    let expected = job::Busy {
        context: 1,
        core: 2,
        journal: 4,
        by: 4,
        machine: 5,
        event: 6,
        actor: 7,
        payload: 8,
    };
    assert_eq!(busy.state(), &expected);
    let done = busy.end("short".to_owned(), &actors.tool_node);
    let expected = job::Done { context: 1, core: 8, machine: 5, r#type: "short".to_owned() };
    assert_eq!(done.state(), &expected);

    // The erased machine and the serialized events have the same names.
    let mut any = AnyJob::from(Job::new(owner(), 1, 2, 3));
    let start = job::Event::Start { by: 4, machine: 5, event: 6, actor: 7, payload: 8 };
    any.apply_mut(start, &actors.tool_node).unwrap();
    let r#move = job::Event::Move { reason: "no room".to_owned() };
    assert_eq!(r#move.trigger(), "move");
    any.apply_mut(r#move, &actors.tool_node).unwrap();
    any.apply_mut(job::Event::End { r#type: "short".to_owned() }, &actors.tool_node).unwrap();
    let AnyJob::Done(done) = Unverified::of(&any).unwrap().verify().unwrap() else {
        panic!("it was done")
    };
    assert_eq!(done.state(), &expected);
}

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
fn a_plain_machine_has_them_as_well() {
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

/// `source.source` names a field that is called `source`.
#[machine]
#[derive(Debug)]
pub enum Query {
    #[initial]
    #[on(run(sum = source.source + source.status) => Done)]
    #[on(look => if source.source > 1 { Self } else { Done(sum = 0) })]
    Asked { source: u8, status: u8 },
    #[terminal]
    Done { sum: u8 },
}

#[test]
fn fields_are_called_source_and_status() {
    assert_eq!(Query::new(1, 2).run().state().sum, 3);
    let query::AfterLook::Asked(asked) = Query::new(2, 0).look() else { panic!() };
    let query::AfterLook::Done(done) = Query::new(0, 7).look() else { panic!() };
    assert_eq!((asked.state().source, done.state().sum), (2, 0));
}

#[machine]
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    #[initial]
    #[on(succeed => Ok)]
    #[on(fail => Err)]
    #[on(give_up => None)]
    Some,
    #[terminal]
    Ok,
    #[terminal]
    Err,
    #[terminal]
    None,
}

#[test]
fn states_have_names_of_the_prelude() {
    assert_eq!(AnyAnswer::from(Answer::new().fail()).status(), answer::Status::Err);
    assert_eq!("ok".parse::<answer::Status>(), Result::Ok(answer::Status::Ok));
}
