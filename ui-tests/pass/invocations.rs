//! A state says what it invokes: the table has it, the commit that enters the state evaluates it, and only the call
//! brings its outcome.

use std::time::Duration;

use machine::{
    actor::{Actors, GraphRunner, Human},
    contract::{Action, CallError, Outcome, Tool},
    definition::{ApprovalDef, Invocation},
    machine,
    stored::{Context, Durable},
    typed::Reason,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, receipt = String)]
pub struct Charge {
    cents: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent, receipt = String)]
pub struct Read {
    path: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Limits {
    wait: Duration,
}

impl Context for Limits {
    type Summary = ();
}

type Reads = Vec<Outcome<Read>>;

fn is_dear(charge: &Charge) -> bool {
    charge.cents > 10_000
}

fn of_parts(parts: &[u32]) -> impl Iterator<Item = Charge> {
    assert!(parts.len() < 3, "this program knows two parts");
    parts.iter().map(|cents| Charge { cents: *cents })
}

#[machine(durable, context = Limits, on(stop(why: String) => Stopped, from = Working, by = Human, detach))]
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    #[on(run(action) => Running)]
    #[on(split(parts) => Splitting, by = Human)]
    Cart,

    #[group(Working)]
    #[invoke(
        charge,
        approve = is_dear,
        expires = context.wait * 2,
        within = context.wait,
        occurrence = charge.cents.to_string(),
        done = paid,
        failed = refused,
        was = "pay",
    )]
    #[on(paid(receipt: String) => Reading(reads = vec![Read { path: receipt }]))]
    #[on(refused(why: CallError) => match why {
        // It is not over yet.
        CallError::Overdue { .. } => Self,
        CallError::Expired => Cart,
        _ => Stopped,
    })]
    Paying { charge: Charge },

    #[group(Working)]
    #[invoke(files: [Read] = reads, each = read, done = all)]
    #[on(read(outcome: Outcome<Read>, index: usize) => if outcome.is_ok() { Self } else { Stopped })]
    #[on(all(outcomes) => Done)]
    Reading { reads: Vec<Read> },

    #[invoke(action, unattended)]
    #[on(go => Stopped, by = GraphRunner)]
    Running { action: Action },

    #[invoke(part: [Charge] = of_parts(&parts), approve)]
    #[on(go => Stopped, by = GraphRunner)]
    Splitting { parts: Vec<u32> },

    #[terminal]
    Done { outcomes: Reads },

    #[terminal]
    Stopped,
}

fn new() -> Order<order::Cart> {
    Order::new(Limits { wait: Duration::from_secs(60) })
}

fn ann() -> Human {
    Human::new("ann").unwrap()
}

fn invocation(state: order::Status) -> &'static Invocation {
    order::DEFINITION.states[state as usize].invocation.as_ref().unwrap()
}

#[test]
fn the_table_has_every_option() {
    let paying = invocation(order::Status::Paying);
    assert_eq!((&*paying.name, &*paying.tool), ("charge", "Charge"));
    assert_eq!((&*paying.service, &*paying.method), ("bank", "charge"));
    assert!(paying.irreversible && !paying.set && !paying.unattended);
    assert_eq!(paying.approval, ApprovalDef::When("is_dear".into()));
    assert_eq!(paying.expires.as_deref(), Some("context.wait * 2"));
    assert_eq!(paying.within.as_deref(), Some("context.wait"));
    assert_eq!((paying.done.as_deref(), paying.failed.as_deref()), (Some("paid"), Some("refused")));
    assert_eq!(paying.each, None);
    assert_eq!(*paying.was, ["pay"]);

    let reading = invocation(order::Status::Reading);
    assert_eq!((&*reading.name, &*reading.tool), ("files", "Read"));
    assert!(reading.set && !reading.irreversible);
    assert_eq!((reading.each.as_deref(), reading.done.as_deref()), (Some("read"), Some("all")));
    assert_eq!(reading.approval, ApprovalDef::Never);

    let running = invocation(order::Status::Running);
    assert!(running.irreversible && running.unattended && running.service.is_empty());
    assert_eq!(invocation(order::Status::Splitting).approval, ApprovalDef::Always);
    assert!(order::DEFINITION.states[order::Status::Cart as usize].invocation.is_none());
}

#[test]
fn the_table_has_what_leaves_a_call_under_way() {
    let detached = order::DEFINITION.edges.iter().filter(|edge| edge.detach);
    assert!(detached.clone().all(|edge| edge.trigger == "stop"));
    assert_eq!(detached.count(), 2);
}

#[test]
fn only_the_call_brings_its_outcome() {
    let outcomes = ["paid", "refused", "read", "all"];
    for edge in order::DEFINITION.edges.iter() {
        let of_a_call = outcomes.contains(&&*edge.trigger);
        assert_eq!(of_a_call, *edge.actors == ["call"], "{}", edge.trigger);
    }
    let paying: AnyOrder = new().place(Charge { cents: 250 }, &ann()).into();
    let runner = Actors::issue("shop").unwrap().graph_runner;
    let forged = || order::Event::Paid { receipt: "forged".to_owned() };
    assert_eq!(
        paying.why_not(&forged(), &runner).unwrap().reason(),
        &Reason::Actor("graph_runner")
    );
    assert!(paying.apply(forged(), &ann()).is_err());
}

/// The number of calls that a commit would make, as its `Debug` says.
fn calls(machine: &dyn Durable) -> String {
    let entered = format!("{:?}", machine.__entered());
    entered.split("calls: ").nth(1).unwrap().trim_end_matches(" }").to_owned()
}

#[test]
fn the_state_that_is_entered_makes_its_calls() {
    assert_eq!(calls(&new()), "None");
    let paying = new().place(Charge { cents: 250 }, &ann());
    assert_eq!(calls(&paying), "Some(1)");
    assert_eq!(calls(&AnyOrder::from(paying)), "Some(1)");
    for parts in [vec![], vec![1], vec![1, 2]] {
        let expected = format!("Some({})", parts.len());
        assert_eq!(calls(&new().split(parts, &ann())), expected);
    }
}

#[test]
fn nothing_is_evaluated_in_memory() {
    let splitting = new().split(vec![1, 2, 3], &ann());
    let evaluated =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| splitting.__entered()));
    assert!(evaluated.is_err(), "the commit evaluates it");
}
