//! Machines declared in another crate: driven from here, and extended with methods.

use machine_tests::actors::{ecs_node, graph_runner, tool_node};
use std::str::FromStr;

use machine::{
    actor::Anyone,
    contract::{
        AnyExecution, Execution,
        execution::{self, Completed, Running},
    },
    definition::Definition,
    typed::{Erased, Refused, State},
};
use machine_tests::samples::{AnyLease, Lease, asked, lease, read};

use crate::machines::source::Source;

/// A method of one state.
trait RunHere {
    fn run(self, tool: impl FnOnce() -> String) -> Execution<Completed>;
}

impl RunHere for Execution<Running> {
    fn run(self, tool: impl FnOnce() -> String) -> Execution<Completed> {
        self.succeed(tool(), tool_node())
    }
}

/// A method of every state, and of the erased machine.
trait Describe {
    fn describe(&self) -> String;
}

impl<S: State<Machine = Execution<S>>> Describe for Execution<S> {
    fn describe(&self) -> String {
        let state = &execution::DEFINITION.states[S::INDEX].label;
        format!("{} is {state}", self.context().session_id().unwrap_or("it"))
    }
}

impl Describe for AnyExecution {
    fn describe(&self) -> String {
        format!("it is {}", self.status().definition().label)
    }
}

#[test]
fn a_library_machine_can_be_given_methods() {
    let running = Execution::new(read("a.txt").session("reading")).start(tool_node());
    assert_eq!(running.describe(), "reading is RUNNING");
    let done = running.run(|| "text".to_owned());
    assert_eq!((done.describe().as_str(), &*done.state().result), ("reading is COMPLETED", "text"));
    let mut any = AnyExecution::from(asked("yes?"));
    assert_eq!(any.describe(), "it is WAITING");
    any.apply_mut(execution::Event::Resume, graph_runner()).unwrap();
    assert_eq!(any.describe(), "it is RUNNING");
}

#[test]
fn the_table_of_another_crates_machine_is_that_of_its_source() {
    Source {
        states: &["requested", "granted", "expiring", "ended"],
        initial: "requested",
        terminal: &["ended"],
        stable: &[],
        rows: &[
            ("requested", "grant", "granted"),
            ("requested", "refuse", "ended"),
            ("granted", "renew", "granted"),
            ("granted", "warn", "expiring"),
            ("granted", "give_back", "ended"),
            ("granted", "revoke", "ended"),
            ("expiring", "renew", "granted"),
            ("expiring", "revoke", "ended"),
        ],
        deadlines: &[],
    }
    .matches(lease::DEFINITION);
}

/// A method of every state in the group `Held`.
trait Remind {
    fn remind(&self) -> String;
}

impl<S: lease::Held + std::fmt::Debug> Remind for Lease<S> {
    fn remind(&self) -> String {
        format!("remember {:?}", self.state())
    }
}

#[test]
fn typed_another_crates_machine_is_driven_and_extended() {
    let granted = Lease::new(60).grant("ann".to_owned(), ecs_node());
    assert!(granted.remind().starts_with("remember Granted"));
    let expiring = granted.warn();
    assert!(expiring.remind().starts_with("remember Expiring"));
    let ended = expiring.renew(30).give_back();
    assert_eq!(ended.state(), &lease::Ended { reason: "ann is done".to_owned() });
    assert_eq!(Lease::new(1).refuse("no".to_owned(), ecs_node()).state().reason, "no");
}

/// It is `#[non_exhaustive]`: the last arms would otherwise be unreachable.
#[test]
#[deny(unreachable_patterns)]
fn another_crates_machine_may_get_states_and_triggers() {
    let any = AnyLease::from(Lease::new(1));
    let status = match any.status() {
        lease::Status::Requested => "requested",
        lease::Status::Granted | lease::Status::Expiring => "held",
        lease::Status::Ended => "over",
        _ => "added later",
    };
    assert_eq!(status, "requested");
    let machine = match any {
        AnyLease::Requested(requested) => requested.into_state().seconds,
        AnyLease::Granted(_) | AnyLease::Expiring(_) | AnyLease::Ended(_) => 2,
        _ => 3,
    };
    assert_eq!(machine, 1);
    let event = match lease::Event::Warn {
        lease::Event::Grant { .. } | lease::Event::Refuse { .. } => "first",
        lease::Event::Renew { .. } | lease::Event::Revoke { .. } => "second",
        lease::Event::Warn | lease::Event::GiveBack => "third",
        _ => "added later",
    };
    assert_eq!(event, "third");
}

/// Code that is generic over machines.
fn drive<M: Erased>(machine: M, events: Vec<M::Event>) -> Result<M, Refused<M>> {
    events.into_iter().try_fold(machine, |machine, event| machine.apply(event, ecs_node()))
}

fn label<M: Erased>(machine: &M) -> &'static str {
    let definition: &'static Definition = M::DEFINITION;
    &definition.states[machine.state_index()].label
}

#[test]
fn erased_generic_code_drives_any_machine() {
    use lease::{Event, Status};

    let grant = Event::Grant { holder: "bob".to_owned() };
    let refused = drive(AnyLease::from(Lease::new(5)), vec![grant.clone(), grant]).unwrap_err();
    assert_eq!(label(&refused.machine), "GRANTED");
    assert_eq!(
        refused.to_string(),
        "GRANTED cannot `grant`; from GRANTED you can: renew -> GRANTED, warn -> EXPIRING, \
         give_back -> ENDED, revoke -> ENDED"
    );
    let revoke = Event::Revoke { reason: "late".to_owned() };
    let ended = drive(refused.machine, vec![Event::Warn, revoke]).unwrap();
    assert_eq!(ended.status(), Status::from_str("ended").unwrap());
    assert_eq!(serde_json::to_string(&ended).unwrap(), r#"{"ended":{"reason":"late"}}"#);
    assert_eq!(ended.available(&Anyone).count(), 0);

    let pending = AnyExecution::from(Execution::new(read("a.txt")));
    assert_eq!(label(&drive(pending, vec![execution::Event::Start]).unwrap()), "RUNNING");
}
