//! The coding orchestrator (OR-1, with the events of OR-2 and a plan after OR-3).

use std::fmt;

use machine::{
    actor::{Actor, Anyone, Category},
    machine,
    typed::Reason,
};
use serde::{Deserialize, Serialize};

use crate::source::Source;

/// The person who asked.
struct User;

impl Actor for User {
    const KIND: &'static str = "user";
    const CATEGORY: Category = Category::Human;
}

/// What is to be done, and how dangerous that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    steps: Vec<String>,
    dangerous: bool,
}

/// What was confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Scope {
    /// The plan holds nothing that needs a person.
    Harmless,
    /// A person agreed to this.
    Confirmed(String),
}

/// Why a way is not open.
#[derive(Debug, PartialEq, Eq)]
enum Closed {
    NothingToAsk,
    KeyContextMissing,
    PlanIsDangerous,
    PlanIsHarmless,
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NothingToAsk => "nothing is unclear",
            Self::KeyContextMissing => "key context is missing",
            Self::PlanIsDangerous => "the plan holds a dangerous action",
            Self::PlanIsHarmless => "the plan holds no dangerous action",
        })
    }
}

fn unclear(state: &orchestrator::Intake, _: &[String]) -> Result<(), Closed> {
    if state.missing.is_empty() { Err(Closed::NothingToAsk) } else { Ok(()) }
}

fn clear(state: &orchestrator::Intake) -> Result<(), Closed> {
    if state.missing.is_empty() { Ok(()) } else { Err(Closed::KeyContextMissing) }
}

fn dangerous(_: &orchestrator::Planning, plan: &Plan) -> Result<(), Closed> {
    if plan.dangerous { Ok(()) } else { Err(Closed::PlanIsHarmless) }
}

fn harmless<S>(_: &S, plan: &Plan) -> Result<(), Closed> {
    if plan.dangerous { Err(Closed::PlanIsDangerous) } else { Ok(()) }
}

/// From a message to a summary, and back to waiting.
#[machine(
    on(timeout(blocked) => Summarizing, from = Active),
    on(cancel(blocked) => Summarizing, from = Active)
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Orchestrator {
    /// Waits for a person.
    #[initial]
    #[stable]
    #[on(user_message(text, missing) => Intake, by = User)]
    Idle,

    /// Finds out what is wanted.
    #[group(Active)]
    #[on(ask(questions) => Clarifying, guard = unclear -> Closed)]
    #[on(understood => ContextBuilding, guard = clear -> Closed)]
    Intake { text: String, missing: Vec<String> },

    /// One to three questions are asked.
    #[stable]
    #[group(Active)]
    #[only_after(Intake)]
    #[on(clarification_answer(answer: String, missing = Vec::new()) => Intake, by = User)]
    Clarifying { text: String, questions: Vec<String> },

    /// Files, search results, excerpts.
    #[group(Active)]
    #[only_after(Intake)]
    #[on(context_built => Planning)]
    ContextBuilding { text: String },

    /// Makes a plan.
    #[group(Active)]
    #[only_after(ContextBuilding)]
    #[on(plan_dangerous(plan) => AwaitingConfirmation, guard = dangerous -> Closed)]
    #[on(plan_harmless(plan, scope = Scope::Harmless) => Executing, guard = harmless -> Closed)]
    Planning { text: String },

    /// A dangerous plan waits for a yes.
    #[stable]
    #[group(Active)]
    #[only_after(Planning)]
    #[on(confirm(agreed: String, scope = Scope::Confirmed(agreed)) => Executing, by = User)]
    #[on(decline(blocked) => Summarizing, by = User)]
    AwaitingConfirmation { text: String, plan: Plan },

    /// Takes the steps.
    #[group(Active)]
    #[only_after(Planning)]
    #[on(step_done => Verifying)]
    #[on(step_failed(error) => Recovering)]
    Executing { text: String, plan: Plan, scope: Scope },

    /// Lint, test, build.
    #[group(Active)]
    #[only_after(Executing)]
    #[on(passed(blocked = None) => Summarizing)]
    #[on(verification_failed(error) => Recovering)]
    Verifying { text: String, plan: Plan, scope: Scope },

    /// Something went wrong.
    #[group(Active)]
    #[only_after(Executing)]
    #[on(repair(plan) => Executing, guard = harmless -> Closed)]
    #[on(give_up(blocked) => Summarizing)]
    Recovering { text: String, plan: Plan, scope: Scope, error: String },

    /// Says what changed, or what blocks.
    #[on(summarized(summary) => Done)]
    #[on(timeout(blocked: Option<String>, summary = String::new()) => Done)]
    #[on(cancel(blocked: Option<String>, summary = String::new()) => Done)]
    Summarizing { text: String, blocked: Option<String> },

    /// This round is over.
    #[only_after(Summarizing)]
    #[on(next_round => Idle)]
    Done { summary: String },
}

#[test]
fn the_table_is_that_of_the_source() {
    let active = [
        "intake",
        "clarifying",
        "context_building",
        "planning",
        "awaiting_confirmation",
        "executing",
        "verifying",
        "recovering",
    ];
    let mut rows = vec![
        ("idle", "user_message", "intake"),
        ("intake", "ask", "clarifying"),
        ("intake", "understood", "context_building"),
        ("clarifying", "clarification_answer", "intake"),
        ("context_building", "context_built", "planning"),
        ("planning", "plan_dangerous", "awaiting_confirmation"),
        ("planning", "plan_harmless", "executing"),
        ("awaiting_confirmation", "confirm", "executing"),
        ("awaiting_confirmation", "decline", "summarizing"),
        ("executing", "step_done", "verifying"),
        ("executing", "step_failed", "recovering"),
        ("verifying", "passed", "summarizing"),
        ("verifying", "verification_failed", "recovering"),
        ("recovering", "repair", "executing"),
        ("recovering", "give_up", "summarizing"),
        ("summarizing", "summarized", "done"),
        ("summarizing", "timeout", "done"),
        ("summarizing", "cancel", "done"),
        ("done", "next_round", "idle"),
    ];
    for state in active {
        rows.push((state, "timeout", "summarizing"));
        rows.push((state, "cancel", "summarizing"));
    }
    let mut states = active.to_vec();
    states.extend(["idle", "summarizing", "done"]);
    Source {
        states: &states,
        initial: "idle",
        terminal: &[],
        stable: &["idle", "clarifying", "awaiting_confirmation"],
        rows: &rows,
    }
    .is_told_by(orchestrator::DEFINITION);
}

fn plan(dangerous: bool) -> Plan {
    Plan { steps: vec!["rename it".to_owned()], dangerous }
}

fn planning() -> Orchestrator<orchestrator::Planning> {
    let intake = Orchestrator::new().user_message("rename f".to_owned(), Vec::new(), &User);
    intake.understood().unwrap().context_built()
}

#[test]
fn typed_a_dangerous_plan_is_confirmed_and_a_failure_repaired() {
    let missing = vec!["which f".to_owned()];
    let intake = Orchestrator::new().user_message("rename f".to_owned(), missing, &User);
    let refused = intake.understood().unwrap_err();
    assert_eq!(refused.reason, Closed::KeyContextMissing);
    let clarifying = refused.machine.ask(vec!["which?".to_owned()]).unwrap();
    let intake = clarifying.clarification_answer("the second".to_owned(), &User);
    let planning = intake.understood().unwrap().context_built();

    let refused = planning.plan_harmless(plan(true)).unwrap_err();
    assert_eq!(refused.reason, Closed::PlanIsDangerous);
    let awaiting = refused.machine.plan_dangerous(plan(true)).unwrap();
    let executing = awaiting.confirm("this file".to_owned(), &User);
    let recovering = executing.step_done().verification_failed("it does not build".to_owned());
    assert_eq!(recovering.state().scope, Scope::Confirmed("this file".to_owned()));
    // What was agreed to was the plan, not its repair.
    let refused = recovering.repair(plan(true)).unwrap_err();
    assert_eq!(refused.reason, Closed::PlanIsDangerous);
    let executing = refused.machine.repair(plan(false)).unwrap();
    let done = executing.step_done().passed().summarized("ok".to_owned());
    assert_eq!(done.next_round().state(), &orchestrator::Idle);
}

/// What leaves every active state, leaves each of them; when it is too late for that, the round ends.
#[test]
fn typed_a_cancel_is_summarized_and_a_second_one_ends_the_round() {
    let why = || Some("changed my mind".to_owned());
    let summarizing = planning().cancel(why());
    assert_eq!(summarizing.state().blocked, why());
    let done = summarizing.cancel(why());
    assert_eq!(done.state().summary, "");
    let awaiting = planning().plan_dangerous(plan(true)).unwrap();
    assert_eq!(awaiting.timeout(why()).state().text, "rename f");
}

#[test]
fn erased_events_arrive_at_run_time() {
    use orchestrator::{Event, Status};

    let mut any = AnyOrchestrator::from(planning());
    let refused = any.apply_mut(Event::StepDone, &Anyone).unwrap_err();
    assert_eq!(refused.reason(), &Reason::NotFromHere);
    let harmless = Event::PlanHarmless { plan: plan(true) };
    let refused = any.apply_mut(harmless, &Anyone).unwrap_err();
    assert_eq!(refused.reason(), &Reason::Guard(Closed::PlanIsDangerous.to_string()));
    any.apply_mut(Event::PlanDangerous { plan: plan(true) }, &Anyone).unwrap();
    let confirm = Event::Confirm { agreed: "all of it".to_owned() };
    let refused = any.apply_mut(confirm.clone(), &Anyone).unwrap_err();
    assert_eq!(refused.reason(), &Reason::Actor("anyone"));
    any.apply_mut(confirm, &User).unwrap();
    any.apply_mut(Event::StepFailed { error: "read-only".to_owned() }, &Anyone).unwrap();
    any.apply_mut(Event::Timeout { blocked: Some("too late".to_owned()) }, &Anyone).unwrap();
    assert_eq!(any.status(), Status::Summarizing);
}
