//! A guard sees the state, the context and the payload. A refusal returns the machine unchanged,
//! both typed and erased.

use std::fmt;

use machine::actor::{Actors, ToolNode};
use machine::machine;
use machine::typed::{Illegal, Reason, Refused};

#[derive(Debug, Clone, PartialEq)]
struct TooHeavy {
    grams: u32,
}

impl fmt::Display for TooHeavy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} g is too heavy", self.grams)
    }
}

mod rules {
    use super::{TooHeavy, parcel};

    pub(crate) fn is_light(open: &parcel::Open, limit: &u32, grams: &u32) -> Result<(), TooHeavy> {
        let grams = open.grams + grams;
        if grams > *limit { Err(TooHeavy { grams }) } else { Ok(()) }
    }
}

#[machine(context = u32)]
#[derive(Debug, Clone, PartialEq)]
enum Parcel {
    #[initial]
    #[on(fill(grams) => Open)]
    Empty,

    #[on(add(more: u32, grams = grams + more) => Open, by = ToolNode, guard = rules::is_light -> TooHeavy)]
    #[on(send => Sent, guard = has_weight -> &'static str)]
    Open { grams: u32 },

    #[terminal]
    Sent { grams: u32 },
}

fn has_weight(open: &parcel::Open, _limit: &u32) -> Result<(), &'static str> {
    if open.grams == 0 { Err("it is empty") } else { Ok(()) }
}

fn send(open: Parcel<parcel::Open>) -> Result<Parcel<parcel::Sent>, Box<dyn std::error::Error>> {
    Ok(open.send().map_err(|refused| refused.reason)?)
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let open = Parcel::new(1000).fill(900).add(100, &actors.tool_node).unwrap();
    assert_eq!(open.state().grams, 1000);

    // The refusal returns the machine with the reason, and the machine can be used again.
    let Refused { machine, reason } = open.add(1, &actors.tool_node).unwrap_err();
    assert_eq!(reason, TooHeavy { grams: 1001 });
    let open: Parcel<parcel::Open> = machine;
    assert_eq!((open.state().grams, *open.context()), (1000, 1000));
    assert_eq!(open.add(5, &actors.tool_node).unwrap_err().to_string(), "1005 g is too heavy");

    // The erased machine refuses as well.
    let any = AnyParcel::from(Parcel::new(1000).fill(900));
    let heavy = parcel::Event::Add { more: 101 };
    let expected = "OPEN cannot `add` now: 1001 g is too heavy";
    let why: Illegal = any.why_not(&heavy, &actors.tool_node).unwrap();
    assert_eq!(why.to_string(), expected);
    let refused = any.apply(heavy.clone(), &actors.tool_node).unwrap_err();
    assert_eq!(refused.reason, why);
    assert_eq!(why.reason(), &Reason::Guard("1001 g is too heavy".to_owned()));
    let mut any = refused.machine;
    assert_eq!(any.status(), parcel::Status::Open);
    assert_eq!(any.apply_mut(heavy.clone(), &actors.tool_node).unwrap_err(), why);

    // The actor is checked before the guard.
    let why = any.why_not(&heavy, &actors.reasoning_node).unwrap();
    assert_eq!(why.reason(), &Reason::Actor("reasoning"));
    assert_eq!(any.why_not(&parcel::Event::Add { more: 100 }, &actors.tool_node), None);
    any.apply_mut(parcel::Event::Add { more: 100 }, &actors.tool_node).unwrap();
    let AnyParcel::Open(open) = any else { panic!("it is open") };
    assert_eq!(send(open).unwrap().state().grams, 1000);
    assert_eq!(send(Parcel::new(1).fill(0)).unwrap_err().to_string(), "it is empty");
}

/// A guard may take types to which the payload coerces, or be generic.
#[machine]
#[derive(Debug)]
pub enum Letter {
    #[initial]
    #[on(write(text: String, to: Vec<String>) => Written, guard = worth_it -> &'static str)]
    #[on(burn(why: String) => Burnt, guard = anything -> String)]
    Empty,
    #[terminal]
    Written,
    #[terminal]
    Burnt,
}

fn worth_it(_: &dyn std::fmt::Debug, text: &str, to: &[String]) -> Result<(), &'static str> {
    if text.is_empty() || to.is_empty() { Err("nothing to write") } else { Ok(()) }
}

fn anything<S, W>(_: &S, _: &W) -> Result<(), String> {
    Ok(())
}

#[test]
fn arguments_of_guards_are_coerced() {
    let refused = Letter::new().write(String::new(), vec![String::new()]).unwrap_err();
    assert_eq!(refused.reason, "nothing to write");
    assert!(refused.machine.burn("empty".to_owned()).is_ok());
}
