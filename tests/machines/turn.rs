//! The turn of an agent (TN-1, TN-3, TN-6, TN-7, TN-8).

use std::{collections::BTreeSet, fmt};

use machine::{
    actor::{Actor, Anyone, Category},
    erased::{Context, Unverified},
    journal::Fact,
    machine,
    typed::Reason,
};
use serde::{Deserialize, Serialize};

use crate::source::Source;

/// The runtime: it hands out turns.
struct Runtime;

impl Actor for Runtime {
    const KIND: &'static str = "runtime";
    const CATEGORY: Category = Category::System;
}

/// The worker: it takes them.
struct Worker;

impl Actor for Worker {
    const KIND: &'static str = "worker";
    const CATEGORY: Category = Category::Agent;
}

/// Whose turns these are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agent {
    agent_id: String,
}

impl Context for Agent {}

/// What a turn hands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deliverable {
    card: String,
}

type CallIds = BTreeSet<String>;

/// A report that the waiting set does not fit.
#[derive(Debug, PartialEq, Eq)]
enum OutOfPlace {
    NotAwaited,
    TheLast,
    NotTheLast,
}

impl fmt::Display for OutOfPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAwaited => "nobody waits for it",
            Self::TheLast => "it is the last one: `resume`",
            Self::NotTheLast => "others are awaited still: `report`",
        })
    }
}

fn awaited_with_others(state: &turn::Suspended, _: &Agent, call: &str) -> Result<(), OutOfPlace> {
    match (state.waiting.contains(call), state.waiting.len()) {
        (false, _) => Err(OutOfPlace::NotAwaited),
        (true, 1) => Err(OutOfPlace::TheLast),
        (true, _) => Ok(()),
    }
}

fn the_last_awaited(state: &turn::Suspended, _: &Agent, call: &str) -> Result<(), OutOfPlace> {
    match (state.waiting.contains(call), state.waiting.len()) {
        (false, _) => Err(OutOfPlace::NotAwaited),
        (true, 1) => Ok(()),
        (true, _) => Err(OutOfPlace::NotTheLast),
    }
}

fn without(mut waiting: CallIds, call: &str) -> CallIds {
    waiting.remove(call);
    waiting
}

/// The head of an agent: at most one turn at a time.
#[machine(durable, context = Agent)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Turn {
    /// No turn.
    #[initial]
    #[stable]
    #[on(dispatch(turn_id, epoch = epoch + 1) => Dispatched, by = Runtime)]
    Idle { epoch: u64 },

    /// A turn is handed out, and nobody has taken it yet.
    #[on(claim => Running, by = Worker)]
    Dispatched { epoch: u64, turn_id: String },

    /// A worker is at it.
    #[on(suspend(waiting, resume_deadline) => Suspended, by = Worker)]
    #[on(deliver(deliverable: Deliverable) => Idle, by = Worker)]
    Running { epoch: u64, turn_id: String },

    /// Results of tools are awaited.
    #[stable]
    #[on(report(call: String, waiting = without(waiting, &call)) => Suspended,
         by = Runtime, guard = awaited_with_others -> OutOfPlace)]
    #[on(resume(call: String) => Running,
         by = Runtime, guard = the_last_awaited -> OutOfPlace)]
    #[on(deliver(deliverable: Deliverable) => Idle, by = Runtime)]
    Suspended { epoch: u64, turn_id: String, waiting: CallIds, resume_deadline: u64 },
}

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &["idle", "dispatched", "running", "suspended"],
        initial: "idle",
        terminal: &[],
        stable: &["idle", "suspended"],
        rows: &[
            ("idle", "dispatch", "dispatched"),
            ("dispatched", "claim", "running"),
            ("running", "suspend", "suspended"),
            ("suspended", "report", "suspended"),
            ("suspended", "resume", "running"),
            ("suspended", "deliver", "idle"),
            ("running", "deliver", "idle"),
        ],
    }
    .is_told_by(turn::DEFINITION);
}

fn idle() -> Turn<turn::Idle> {
    Turn::new(Agent { agent_id: "scout".to_owned() }, 0)
}

fn calls<const N: usize>(ids: [&str; N]) -> CallIds {
    ids.into_iter().map(str::to_owned).collect()
}

fn card() -> Deliverable {
    Deliverable { card: "c1".to_owned() }
}

#[test]
fn typed_every_turn_has_its_epoch_and_its_deliverable() {
    let running = idle().dispatch("t1".to_owned(), &Runtime).claim(&Worker);
    assert_eq!(running.state(), &turn::Running { epoch: 1, turn_id: "t1".to_owned() });

    let suspended = running.suspend(calls(["a", "b"]), 1000, &Worker);
    let refused = suspended.report("z".to_owned(), &Runtime).unwrap_err();
    assert_eq!(refused.reason, OutOfPlace::NotAwaited);
    let refused = refused.machine.resume("a".to_owned(), &Runtime).unwrap_err();
    assert_eq!(refused.reason, OutOfPlace::NotTheLast);
    let suspended = refused.machine.report("a".to_owned(), &Runtime).unwrap();
    assert_eq!(suspended.state().waiting, calls(["b"]));
    // Replayed.
    let refused = suspended.report("a".to_owned(), &Runtime).unwrap_err();
    assert_eq!(refused.reason, OutOfPlace::NotAwaited);
    let idle = refused.machine.resume("b".to_owned(), &Runtime).unwrap().deliver(card(), &Worker);

    // The next turn has the next epoch; the deliverable is in the journal and nowhere else.
    let Fact::Moved { payload, .. } = &idle.journal().entries().last().unwrap().fact else {
        panic!("{:?}", idle.journal())
    };
    assert_eq!(serde_json::to_string(payload).unwrap(), r#"{"deliverable":{"card":"c1"}}"#);
    assert_eq!(idle.state(), &turn::Idle { epoch: 1 });
    let dispatched = idle.dispatch("t2".to_owned(), &Runtime);
    assert_eq!((dispatched.state().epoch, dispatched.context().agent_id.as_str()), (2, "scout"));
}

#[test]
fn erased_the_same_rules_hold() {
    use turn::Event;

    let mut any = AnyTurn::from(idle());
    let dispatch = Event::Dispatch { turn_id: "t1".to_owned() };
    let refused = any.apply_mut(dispatch.clone(), &Worker).unwrap_err();
    assert_eq!(refused.reason(), &Reason::Actor("worker"));
    any.apply_mut(dispatch, &Runtime).unwrap();
    any.apply_mut(Event::Claim, &Worker).unwrap();
    let waiting = calls(["a"]);
    any.apply_mut(Event::Suspend { waiting, resume_deadline: 9 }, &Worker).unwrap();
    let refused = any.apply_mut(Event::Report { call: "a".to_owned() }, &Runtime).unwrap_err();
    let reason = Reason::Guard("it is the last one: `resume`".to_owned());
    assert_eq!(refused.reason(), &reason);

    // Out, and back.
    let text = serde_json::to_string(&any).unwrap();
    let claim: Unverified = serde_json::from_str(&text).unwrap();
    let mut any = claim.verify::<AnyTurn>().unwrap();
    assert_eq!(any.context().agent_id, "scout");

    // A turn that is stopped delivers too; whoever stops it does so as the runtime.
    let deliver = Event::Deliver { deliverable: card() };
    assert!(any.why_not(&deliver, &Anyone).is_some());
    any.apply_mut(deliver, &Runtime).unwrap();
    assert_eq!(any.status(), turn::Status::Idle);
}
