//! The turn of an agent (TN-1, TN-3, TN-6, TN-7, TN-8, TN-9).

use std::{collections::BTreeSet, fmt, time::Duration};

use machine::{
    actor::{Actor, Category},
    journal::Fact,
    machine,
    stored::Context,
};
use serde::{Deserialize, Serialize};

use crate::machines::source::Source;

/// The runtime: it dispatches turns.
struct Runtime;

impl Actor for Runtime {
    const KIND: &'static str = "runtime";
    const CATEGORY: Category = Category::System;
}

/// The watchdog: it reports calls that are overdue.
struct Watchdog;

impl Actor for Watchdog {
    const KIND: &'static str = "watchdog";
    const CATEGORY: Category = Category::System;
}

/// The worker: it runs them.
struct Worker;

impl Actor for Worker {
    const KIND: &'static str = "worker";
    const CATEGORY: Category = Category::Agent;
}

/// The agent that the turns belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Agent {
    agent_id: String,
}

impl Context for Agent {
    type Summary = ();
}

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deliverable {
    card: String,
}

type CallIds = BTreeSet<String>;

/// A report of a call that is not in the waiting set: replayed, or of another turn.
#[derive(Debug, PartialEq, Eq)]
struct NotAwaited;

impl fmt::Display for NotAwaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this call is not in the waiting set")
    }
}

fn is_awaited(state: &turn::Suspended, _: &Agent, call: &str) -> Result<(), NotAwaited> {
    if state.waiting.contains(call) { Ok(()) } else { Err(NotAwaited) }
}

fn without(mut waiting: CallIds, call: &str) -> CallIds {
    waiting.remove(call);
    waiting
}

/// The head of an agent: at most one turn at a time.
#[machine(
    durable,
    context = Agent,
    fields(epoch: u64),
    fields(turn_id: String, in = Dispatched | Running | Suspended)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Turn {
    /// No turn.
    #[initial]
    #[stable]
    #[on(dispatch(turn_id, epoch = epoch + 1) => Dispatched, by = Runtime)]
    Idle,

    /// A turn is leased, and no worker has claimed it yet.
    #[on(claim => Running, by = Worker)]
    Dispatched,

    /// A worker runs it.
    #[on(suspend(waiting, resume_deadline) => Suspended, by = Worker)]
    #[on(deliver(deliverable: Deliverable) => Idle, by = Worker)]
    Running,

    /// Waits for the results of tool calls.
    #[stable]
    #[on(timeout => Running, by = Watchdog, after = resume_deadline)]
    #[on(report(call: String) => if waiting.len() > 1 {
        Self(waiting = without(waiting, &call))
    } else {
        Running
    }, by = Runtime, guard = is_awaited -> NotAwaited)]
    #[on(deliver(deliverable: Deliverable) => Idle, by = Runtime)]
    Suspended {
        waiting: CallIds,
        /// Counted from the suspension: a report that leaves other calls in the waiting set stays.
        resume_deadline: Duration,
    },
}

pub(crate) use turn::DEFINITION;

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
            ("suspended", "report", "running"),
            ("suspended", "timeout", "running"),
            ("suspended", "deliver", "idle"),
            ("running", "deliver", "idle"),
        ],
        deadlines: &[("suspended", "timeout", "resume_deadline")],
    }
    .matches(DEFINITION);
}

fn idle() -> Turn<turn::Idle> {
    Turn::new(Agent { agent_id: "scout".to_owned() }, 0)
}

fn calls<const N: usize>(ids: [&str; N]) -> CallIds {
    ids.into_iter().map(str::to_owned).collect()
}

const MINUTE: Duration = Duration::from_mins(1);

fn card() -> Deliverable {
    Deliverable { card: "c1".to_owned() }
}

#[test]
fn typed_every_turn_has_an_epoch_and_a_deliverable() {
    use turn::AfterReport;

    let running = idle().dispatch("t1".to_owned(), &Runtime).claim(&Worker);
    assert_eq!(running.state(), &turn::Running { epoch: 1, turn_id: "t1".to_owned() });

    let suspended = running.suspend(calls(["a", "b"]), MINUTE, &Worker);
    let refused = suspended.report("z".to_owned(), &Runtime).unwrap_err();
    assert_eq!(refused.reason, NotAwaited);
    let AfterReport::Suspended(suspended) =
        refused.machine.report("a".to_owned(), &Runtime).unwrap()
    else {
        panic!("`b` is awaited")
    };
    assert_eq!(suspended.state().waiting, calls(["b"]));
    // Replayed.
    let refused = suspended.report("a".to_owned(), &Runtime).unwrap_err();
    assert_eq!(refused.reason, NotAwaited);
    let AfterReport::Running(running) = refused.machine.report("b".to_owned(), &Runtime).unwrap()
    else {
        panic!("nothing is awaited")
    };
    let idle = running.deliver(card(), &Worker);

    // The next turn has the next epoch; the deliverable is in the journal and nowhere else.
    let Fact::Moved { payload, .. } = &idle.journal().uncommitted().last().unwrap().fact else {
        panic!("{:?}", idle.journal())
    };
    assert_eq!(serde_json::to_string(payload).unwrap(), r#"{"deliverable":{"card":"c1"}}"#);
    assert_eq!(idle.state(), &turn::Idle { epoch: 1 });
    let dispatched = idle.dispatch("t2".to_owned(), &Runtime);
    assert_eq!((dispatched.state().epoch, dispatched.context().agent_id.as_str()), (2, "scout"));
}

/// TN-9: the deadline runs from the suspension; a report does not start it again.
#[test]
fn typed_a_report_does_not_extend_the_deadline() {
    let running = idle().dispatch("t1".to_owned(), &Runtime).claim(&Worker);
    let suspended = running.suspend(calls(["a", "b"]), MINUTE, &Worker);
    let deadline = suspended.deadlines().next().unwrap();
    assert_eq!((deadline.trigger, deadline.after), ("timeout", MINUTE));
    let mut any = AnyTurn::from(suspended);
    any.apply_mut(turn::Event::Report { call: "a".to_owned() }, &Runtime).unwrap();
    assert_eq!(any.status(), turn::Status::Suspended);
    assert_eq!(any.journal().deadlines().len(), 1, "it goes on");
    let AnyTurn::Suspended(suspended) = any else { panic!("`b` is awaited") };
    let running = suspended.timeout(&Watchdog);
    assert!(running.journal().deadlines().is_empty());
    assert_eq!(running.state(), &turn::Running { epoch: 1, turn_id: "t1".to_owned() });
}
