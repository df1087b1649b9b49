//! A type of another crate does not become an actor of this library by its name.

use machine::{
    actor::{Actor, Anyone, Category},
    contract::{AnyExecution, Execution, execution::Event},
    machine,
    typed::{Erased, Reason},
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    samples::{AnyTicket, Ticket, asked, read, ticket},
};
use serde::{Deserialize, Serialize};

/// Actors of this crate with the kinds of the library.
mod fake {
    use super::{Actor, Category};

    macro_rules! fakes {
        ($($name:ident $kind:literal)*) => {$(
            #[derive(Debug)]
            pub(super) struct $name;

            impl Actor for $name {
                const KIND: &'static str = $kind;
                const CATEGORY: Category = Category::Human;

                fn name(&self) -> Option<&str> {
                    Some("ann")
                }
            }
        )*};
    }

    fakes! {
        Tool "tool_node"
        Ecs "ecs_node"
        Graph "graph_runner"
        Reasoner "reasoning"
        Human "human"
        Any "anyone"
    }
}

fn pending() -> AnyExecution {
    Execution::new(read("a.txt")).into()
}

fn refuses(machine: &AnyExecution, event: &Event, by: &impl Actor) {
    assert_eq!(machine.available(by).count(), 0);
    let before = serde_json::to_string(machine).unwrap();
    let refused = forgotten(machine).apply(event.clone(), by).unwrap_err();
    assert!(matches!(refused.reason.reason(), Reason::Actor(_)), "{refused}");
    let mut same = forgotten(machine);
    assert!(same.apply_mut(event.clone(), by).is_err());
    assert_eq!(serde_json::to_string(&same).unwrap(), before);
}

/// A copy of the machine.
fn forgotten(machine: &AnyExecution) -> AnyExecution {
    let json = serde_json::to_string(machine).unwrap();
    serde_json::from_str::<machine::stored::Unverified>(&json).unwrap().verify().unwrap()
}

#[test]
fn a_name_does_not_make_an_actor_of_the_library() {
    let waiting = AnyExecution::from(asked("Deploy?"));
    refuses(&pending(), &Event::Start, &fake::Tool);
    refuses(&pending(), &Event::Start, &fake::Ecs);
    for event in [Event::Resume, Event::Timeout, Event::Cancel { reason: "x".to_owned() }] {
        refuses(&waiting, &event, &fake::Graph);
        refuses(&waiting, &event, &fake::Human);
        refuses(&waiting, &event, &fake::Any);
    }
    refuses(&pending(), &Event::Start, &fake::Reasoner);
    // The genuine ones may.
    assert_eq!(pending().available(tool_node()).count(), 1);
    assert_eq!(pending().available(ecs_node()).count(), 1);
    assert_eq!(waiting.available(graph_runner()).count(), 3);
    assert_eq!(waiting.available(reasoning_node()).count(), 0);
    assert_eq!(waiting.available(ann()).count(), 0);
    forgotten(&waiting).apply(Event::Resume, graph_runner()).unwrap();
}

/// A machine that anyone may move is moved by a stranger as by anyone, and the journal names no
/// person.
#[test]
fn a_move_open_to_anyone_names_no_actor() {
    fn drive<M: Erased<Event = ticket::Event>>(ticket: M, by: &impl Actor) -> M {
        ticket.apply(ticket::Event::Park, by).unwrap()
    }
    let ticket = drive(AnyTicket::from(Ticket::new()), &fake::Human);
    let ticket = closed(ticket, &Anyone);
    for entry in ticket.journal().uncommitted() {
        assert_eq!(entry.actor, None, "{entry:?}");
    }
}

/// A genuine actor is named where the move is a value. The method of the typed machine takes none.
#[test]
fn a_move_open_to_anyone_names_a_genuine_actor() {
    let ticket = AnyTicket::from(Ticket::new()).apply(ticket::Event::Park, ann()).unwrap();
    let ticket = closed(ticket, &Releaser { name: "bob" });
    let entries = ticket.journal().uncommitted().iter();
    let named: Vec<_> =
        entries.map(|entry| (entry.actor.as_deref(), entry.by.as_deref())).collect();
    let expected = [(None, None), (Some("human"), Some("ann")), (Some("releaser"), Some("bob"))];
    assert_eq!(named, expected);
    let parked = Ticket::new().park();
    assert_eq!(parked.journal().uncommitted()[1].actor, None);
}

fn closed(ticket: AnyTicket, by: &impl Actor) -> AnyTicket {
    ticket.apply(ticket::Event::Close { verdict: "fixed".to_owned(), answer: 1.0 }, by).unwrap()
}

/// A person of another crate moves the machines of that crate, under their own kind, by name.
#[derive(Debug)]
struct Releaser {
    name: &'static str,
}

impl Actor for Releaser {
    const KIND: &'static str = "releaser";
    const CATEGORY: Category = Category::Human;

    fn name(&self) -> Option<&str> {
        Some(self.name)
    }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Release {
    #[initial]
    #[on(approve => Approved, by = Releaser)]
    Proposed,
    #[terminal]
    Approved,
}

#[test]
fn an_own_actor_is_named_in_the_journal() {
    let approved = Release::new().approve(&Releaser { name: "ann" });
    let entry = &approved.journal().uncommitted()[1];
    assert_eq!((entry.actor.as_deref(), entry.by.as_deref()), (Some("releaser"), Some("ann")));
    let erased = AnyRelease::from(Release::new());
    let erased = erased.apply(release::Event::Approve, &Releaser { name: "bob" }).unwrap();
    let entry = &erased.journal().uncommitted()[1];
    assert_eq!((entry.actor.as_deref(), entry.by.as_deref()), (Some("releaser"), Some("bob")));
}
