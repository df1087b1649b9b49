//! The turn of an agent (TN-1, TN-3, TN-6, TN-7, TN-8, TN-9).

use std::{collections::BTreeSet, fmt, time::Duration};

use machine::{
    actor::{Actor, Anyone, Category},
    journal::Fact,
    machine,
    stored::{Context, Unverified},
    typed::Reason,
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
    on(timeout => Running, from = Awaiting, by = Watchdog, after = resume_deadline)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Turn {
    /// No turn.
    #[initial]
    #[stable]
    #[on(dispatch(turn_id, epoch = epoch + 1) => Dispatched, by = Runtime)]
    Idle { epoch: u64 },

    /// A turn is leased, and no worker has claimed it yet.
    #[on(claim => Running, by = Worker)]
    Dispatched { epoch: u64, turn_id: String },

    /// A worker runs it.
    #[on(suspend(waiting, resume_deadline) => Suspended, by = Worker)]
    #[on(deliver(deliverable: Deliverable) => Idle, by = Worker)]
    Running { epoch: u64, turn_id: String },

    /// Waits for the results of tool calls.
    #[stable]
    #[group(Awaiting)]
    #[on(report(call: String) => if waiting.len() > 1 {
        Self(waiting = without(waiting, &call))
    } else {
        Running
    }, by = Runtime, guard = is_awaited -> NotAwaited)]
    #[on(deliver(deliverable: Deliverable) => Idle, by = Runtime)]
    Suspended {
        epoch: u64,
        turn_id: String,
        waiting: CallIds,
        /// Counted from the suspension. It belongs to a group, so that a report that leaves other
        /// calls in the waiting set does not extend it.
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
    let found = DEFINITION.find_move(DEFINITION.state("suspended").unwrap(), "timeout").unwrap();
    let group = found.edges()[0].deadline.as_ref().unwrap().group.unwrap();
    assert_eq!(DEFINITION.groups[group].name, "Awaiting");

    let mut any = AnyTurn::from(suspended);
    any.apply_mut(turn::Event::Report { call: "a".to_owned() }, &Runtime).unwrap();
    assert_eq!(any.status(), turn::Status::Suspended);
    assert_eq!(any.journal().deadlines().len(), 1, "it goes on");
    let AnyTurn::Suspended(suspended) = any else { panic!("`b` is awaited") };
    let running = suspended.timeout(&Watchdog);
    assert!(running.journal().deadlines().is_empty());
    assert_eq!(running.state(), &turn::Running { epoch: 1, turn_id: "t1".to_owned() });
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
    let suspend = Event::Suspend { waiting: calls(["a"]), resume_deadline: MINUTE };
    any.apply_mut(suspend.clone(), &Worker).unwrap();
    let refused = any.apply_mut(Event::Report { call: "b".to_owned() }, &Runtime).unwrap_err();
    let reason = Reason::Guard("this call is not in the waiting set".to_owned());
    assert_eq!(refused.reason(), &reason);
    // No store has written the suspension yet, so the deadline has not begun to run.
    let refused = any.fire_deadline("timeout", i64::MAX).unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NotDue(60_000));
    let mut any = refused.machine;
    any.apply_mut(Event::Report { call: "a".to_owned() }, &Runtime).unwrap();
    assert_eq!(any.status(), turn::Status::Running);
    any.apply_mut(suspend, &Worker).unwrap();

    // Out, and back.
    let text = serde_json::to_string(&any).unwrap();
    let claim: Unverified = serde_json::from_str(&text).unwrap();
    let mut any = claim.verify::<AnyTurn>().unwrap();
    assert_eq!(any.context().agent_id, "scout");

    // A turn that is stopped delivers too, by the runtime.
    let deliver = Event::Deliver { deliverable: card() };
    assert!(any.why_not(&deliver, &Anyone).is_some());
    any.apply_mut(deliver, &Runtime).unwrap();
    assert_eq!(any.status(), turn::Status::Idle);
}
