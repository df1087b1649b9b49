//! The coding orchestrator (OR-1, with the events of OR-2 and a plan after OR-3).

use machine_tests::actors::graph_runner;
use std::time::Duration;

use machine::{
    actor::{Actor, Category, GraphRunner},
    machine,
};
use serde::{Deserialize, Serialize};

use crate::machines::source::Source;

/// The person who asked.
pub(super) struct User;

impl Actor for User {
    const KIND: &'static str = "user";
    const CATEGORY: Category = Category::Human;
}

/// The steps, and whether one of them is dangerous.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    steps: Vec<String>,
    dangerous: bool,
}

/// The user's consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Scope {
    /// The plan holds nothing that needs the user's consent.
    Harmless,
    Confirmed(String),
}

/// `CONFIRM(yes/no, scope)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The scope of the consent.
    Yes(String),
    /// The reason.
    No(String),
}

/// The limits after which the orchestrator stops and reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The number of questions asked at once (OR-8).
    questions: usize,
    repairs: u32,
    /// The time for one request, from the message to the summary.
    request: Duration,
}

/// The result of a tool call or a verification: its output, or the error.
type Outcome = Result<String, String>;

fn first(count: usize, missing: &[String]) -> Vec<String> {
    missing.iter().take(count).cloned().collect()
}

fn all_but_first(count: usize, missing: &[String]) -> Vec<String> {
    missing.iter().skip(count).cloned().collect()
}

/// From a message to a summary, and back to waiting.
#[machine(
    context = Limits,
    fields(text: String, in = Active | Summarizing),
    fields(missing: Vec<String>, in = Intake | Clarifying),
    fields(plan: Plan, repairs: u32, in = AwaitingConfirmation | Executing | Verifying | Recovering),
    fields(scope: Scope, in = Executing | Verifying | Recovering),
    on(timeout(blocked = Some("the time is up".to_owned())) => Summarizing, from = Active,
       by = GraphRunner, after = context.request),
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
    #[on(understand => if missing.is_empty() {
        ContextBuilding
    } else {
        Clarifying(
            questions = first(context.questions, &missing),
            missing = all_but_first(context.questions, &missing),
        )
    })]
    Intake,

    /// One to three questions are asked.
    #[stable]
    #[group(Active)]
    #[only_after(Intake)]
    #[on(clarification_answer(answer: String, text = format!("{text}: {answer}")) => Intake,
         by = User)]
    Clarifying { questions: Vec<String> },

    /// Files, search results, excerpts.
    #[group(Active)]
    #[only_after(Intake)]
    #[on(context_built => Planning)]
    ContextBuilding,

    /// Makes a plan.
    #[group(Active)]
    #[only_after(ContextBuilding)]
    #[on(plan_ready(plan, repairs = 0) => if plan.dangerous {
        AwaitingConfirmation
    } else {
        Executing(scope = Scope::Harmless)
    })]
    Planning,

    /// A dangerous plan waits for consent.
    #[stable]
    #[group(Active)]
    #[only_after(Planning)]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes(scope) => Executing(scope = Scope::Confirmed(scope)),
        Answer::No(why) => Summarizing(blocked = Some(why)),
    }, by = User)]
    AwaitingConfirmation,

    /// Executes the steps.
    #[group(Active)]
    #[only_after(Planning)]
    #[on(tool_call_result(name: String, outcome: Outcome) => match outcome {
        Ok(_) => Verifying,
        Err(error) => Recovering(error),
    })]
    Executing,

    /// Lint, test, build.
    #[group(Active)]
    #[only_after(Executing)]
    #[on(verified(outcome: Outcome) => match outcome {
        Ok(_) => Summarizing(blocked = None),
        Err(error) => Recovering(error),
    })]
    Verifying,

    /// A step or the verification failed.
    #[group(Active)]
    #[only_after(Executing)]
    #[on(recover(repair: Option<Plan>) => match repair {
        Some(plan) if repairs < context.repairs && !plan.dangerous => {
            Executing(plan, repairs = repairs + 1)
        },
        _ => Summarizing(blocked = Some(error)),
    })]
    Recovering { error: String },

    /// Reports what changed, or what blocks.
    #[on(summarized(summary) => Done)]
    #[on(timeout(summary = String::new()) => Done, by = GraphRunner, after = context.request)]
    #[on(cancel(blocked: Option<String>, summary = String::new()) => Done)]
    Summarizing { blocked: Option<String> },

    /// This round is over.
    #[only_after(Summarizing)]
    #[on(next_round => Idle)]
    Done { summary: String },
}

pub(crate) use orchestrator::DEFINITION;

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
        ("intake", "understand", "clarifying"),
        ("intake", "understand", "context_building"),
        ("clarifying", "clarification_answer", "intake"),
        ("context_building", "context_built", "planning"),
        ("planning", "plan_ready", "awaiting_confirmation"),
        ("planning", "plan_ready", "executing"),
        ("awaiting_confirmation", "confirm", "executing"),
        ("awaiting_confirmation", "confirm", "summarizing"),
        ("executing", "tool_call_result", "verifying"),
        ("executing", "tool_call_result", "recovering"),
        ("verifying", "verified", "summarizing"),
        ("verifying", "verified", "recovering"),
        ("recovering", "recover", "executing"),
        ("recovering", "recover", "summarizing"),
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
    states.push("summarizing");
    let deadlines: Vec<_> =
        states.iter().map(|state| (*state, "timeout", "context.request")).collect();
    states.extend(["idle", "done"]);
    Source {
        states: &states,
        initial: "idle",
        terminal: &[],
        stable: &["idle", "clarifying", "awaiting_confirmation"],
        rows: &rows,
        deadlines: &deadlines,
    }
    .matches(DEFINITION);
}

/// The condition of each branch, as drawings show it.
#[test]
fn every_branch_has_its_condition() {
    let conditions = |state: &str, trigger: &str| -> Vec<String> {
        let found = DEFINITION.find_move(DEFINITION.state(state).unwrap(), trigger).unwrap();
        found.edges().iter().map(|edge| edge.label().to_string()).collect()
    };
    assert_eq!(
        conditions("awaiting_confirmation", "confirm"),
        ["confirm [answer is Answer::Yes(scope)]", "confirm [answer is Answer::No(why)]"]
    );
    assert_eq!(
        conditions("planning", "plan_ready"),
        ["plan_ready [plan.dangerous]", "plan_ready [else]"]
    );
    assert_eq!(
        conditions("recovering", "recover"),
        [
            "recover [repair is Some(plan) and repairs < context.repairs && !plan.dangerous]",
            "recover [else]"
        ]
    );
}

fn limits() -> Limits {
    Limits { questions: 3, repairs: 2, request: Duration::from_mins(10) }
}

fn intake(missing: usize) -> Orchestrator<orchestrator::Intake> {
    let missing = (0..missing).map(|number| format!("question {number}")).collect();
    Orchestrator::new(limits()).user_message("rename f".to_owned(), missing, &User)
}

fn planning() -> Orchestrator<orchestrator::Planning> {
    let orchestrator::AfterUnderstand::ContextBuilding(building) = intake(0).understand() else {
        panic!("nothing is missing")
    };
    building.context_built()
}

fn plan(dangerous: bool) -> Plan {
    Plan { steps: vec!["rename it".to_owned()], dangerous }
}

fn awaiting() -> Orchestrator<orchestrator::AwaitingConfirmation> {
    use orchestrator::AfterPlanReady::AwaitingConfirmation;

    let AwaitingConfirmation(awaiting) = planning().plan_ready(plan(true)) else {
        panic!("the plan is dangerous")
    };
    awaiting
}

fn executing() -> Orchestrator<orchestrator::Executing> {
    use orchestrator::AfterPlanReady::Executing;

    let Executing(executing) = planning().plan_ready(plan(false)) else {
        panic!("the plan is harmless")
    };
    executing
}

fn failed(
    executing: Orchestrator<orchestrator::Executing>,
) -> Orchestrator<orchestrator::Recovering> {
    use orchestrator::AfterToolCallResult::Recovering;

    let error = Err("read-only".to_owned());
    let Recovering(recovering) = executing.tool_call_result("write_file".to_owned(), error) else {
        panic!("the call failed")
    };
    recovering
}

/// OR-8: at most three questions at a time.
#[test]
fn typed_questions_are_asked_until_nothing_is_missing() {
    use orchestrator::AfterUnderstand::{Clarifying, ContextBuilding};

    let Clarifying(clarifying) = intake(4).understand() else { panic!("four are missing") };
    assert_eq!(clarifying.state().questions, ["question 0", "question 1", "question 2"]);
    let intake = clarifying.clarification_answer("all three".to_owned(), &User);
    let Clarifying(clarifying) = intake.understand() else { panic!("one is missing") };
    assert_eq!(clarifying.state().questions, ["question 3"]);
    let intake = clarifying.clarification_answer("this one too".to_owned(), &User);
    let ContextBuilding(building) = intake.understand() else { panic!("nothing is missing") };
    assert_eq!(building.state().text, "rename f: all three: this one too");
}

#[test]
fn typed_a_dangerous_plan_waits_for_consent() {
    use orchestrator::AfterConfirm;

    let AfterConfirm::Executing(executing) =
        awaiting().confirm(Answer::Yes("this file".to_owned()), &User)
    else {
        panic!("the user agreed")
    };
    assert_eq!(executing.state().scope, Scope::Confirmed("this file".to_owned()));

    let AfterConfirm::Summarizing(summarizing) =
        awaiting().confirm(Answer::No("too risky".to_owned()), &User)
    else {
        panic!("the user declined")
    };
    assert_eq!(summarizing.state().blocked.as_deref(), Some("too risky"));
    assert_eq!(summarizing.state().text, "rename f");
}

#[test]
fn typed_a_failure_is_repaired_as_often_as_the_limits_allow() {
    use orchestrator::{AfterRecover, AfterToolCallResult, AfterVerified};

    let mut executing = executing();
    for repairs in 1..=2 {
        let AfterRecover::Executing(repaired) = failed(executing).recover(Some(plan(false))) else {
            panic!("repair {repairs} is allowed")
        };
        assert_eq!(repaired.state().repairs, repairs);
        executing = repaired;
    }
    let AfterRecover::Summarizing(summarizing) = failed(executing).recover(Some(plan(false)))
    else {
        panic!("the third repair is too many")
    };
    assert_eq!(summarizing.state().blocked.as_deref(), Some("read-only"));

    // The user agreed to a plan, not to its repair.
    let recovering = failed(self::executing());
    assert!(matches!(recovering.recover(Some(plan(true))), AfterRecover::Summarizing(_)));
    let recovering = failed(self::executing());
    assert!(matches!(recovering.recover(None), AfterRecover::Summarizing(_)));

    let ok = || Ok("done".to_owned());
    let AfterToolCallResult::Verifying(verifying) =
        self::executing().tool_call_result("write_file".to_owned(), ok())
    else {
        panic!("the step is done")
    };
    let AfterVerified::Summarizing(summarizing) = verifying.verified(ok()) else {
        panic!("the verification passed")
    };
    assert_eq!(summarizing.state().blocked, None);
    let done = summarizing.summarized("renamed".to_owned());
    assert_eq!(done.next_round().state(), &orchestrator::Idle);
}

/// Every active state can be cancelled; a second cancel ends the round.
#[test]
fn typed_a_cancel_is_summarized_and_a_second_one_ends_the_round() {
    let why = || Some("changed my mind".to_owned());
    let summarizing = planning().cancel(why());
    assert_eq!(summarizing.state().blocked, why());
    assert_eq!(summarizing.cancel(why()).state().summary, "");
}

/// The whole request has one deadline, and the summary has its own.
#[test]
fn typed_time_is_limited() {
    let deadline = awaiting().deadlines().next().unwrap();
    assert_eq!((deadline.trigger, deadline.after), ("timeout", limits().request));
    assert_eq!(Orchestrator::new(limits()).deadlines().count(), 0);
    let summarizing = awaiting().timeout(graph_runner());
    assert_eq!(summarizing.state().blocked.as_deref(), Some("the time is up"));
    assert_eq!(summarizing.deadlines().count(), 1);
    assert_eq!(summarizing.timeout(graph_runner()).state().summary, "");
}
