//! A choice can have actors and a guard; the guard runs before the choice.

use std::fmt;

use machine::{
    actor::{Actor, Actors, Category, ToolNode},
    machine,
    typed::Reason,
};

pub struct User;

impl Actor for User {
    const KIND: &'static str = "user";
    const CATEGORY: Category = Category::Human;
}

#[derive(Debug, PartialEq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the desk is closed")
    }
}

fn open<S>(_: &S, desks: &u32, _: &String) -> Result<(), Closed> {
    if *desks > 0 { Ok(()) } else { Err(Closed) }
}

/// An application that a person decides.
#[machine(context = u32)]
#[derive(Debug)]
pub enum Application {
    #[initial]
    #[on(
        decide(note: String) => if note.is_empty() { Granted } else { Rejected(reason = note) },
        by = User,
        guard = open -> Closed,
    )]
    Filed,

    #[terminal]
    Granted,

    #[terminal]
    Rejected { reason: String },
}

fn an_accepted_choice_returns_its_outcome_in_a_result() {
    use application::AfterDecide;

    let after = Application::new(1).decide("too late".to_owned(), &User).unwrap();
    let AfterDecide::Rejected(rejected) = after else { panic!("there is a reason") };
    assert_eq!(rejected.state().reason, "too late");
    let after = Application::new(1).decide(String::new(), &User).unwrap();
    assert!(matches!(after, AfterDecide::Granted(_)));
}

fn a_refused_choice_returns_the_machine() {
    let refused = Application::new(0).decide(String::new(), &User).unwrap_err();
    assert_eq!(refused.reason, Closed);
    let filed: Application<application::Filed> = refused.machine;
    assert_eq!(*filed.context(), 0);
}

fn the_erased_machine_checks_the_actor_and_then_the_guard(by: &ToolNode) {
    let event = || application::Event::Decide { note: "no".to_owned() };
    let any = AnyApplication::from(Application::new(0));
    let refused = any.apply(event(), by).unwrap_err();
    assert!(matches!(refused.reason.reason(), Reason::Actor("tool_node")), "{refused}");
    let refused = refused.machine.apply(event(), &User).unwrap_err();
    assert_eq!(refused.to_string(), "FILED cannot `decide` now: the desk is closed");
    assert_eq!(refused.machine.status(), application::Status::Filed);
    let any = AnyApplication::from(Application::new(1)).apply(event(), &User).unwrap();
    assert_eq!(any.status(), application::Status::Rejected);
}

#[test]
fn runs() {
    an_accepted_choice_returns_its_outcome_in_a_result();
    a_refused_choice_returns_the_machine();
    let actors = Actors::issue("clerk").unwrap();
    the_erased_machine_checks_the_actor_and_then_the_guard(&actors.tool_node);
}
