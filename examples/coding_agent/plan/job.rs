//! The machine of a job. `machine topology` draws it.

use std::time::Duration;

use machine::{prelude::*, stored::Context};
use serde::{Deserialize, Serialize};

use super::{
    consent::Scope,
    hands::Act,
    trouble::Trouble,
    work::{CallResult, Summary, Work},
};
use crate::workspace::refusal::Code::{E_POLICY_DENIED, E_TOOL_TIMEOUT};

const OVERDUE: &str = "the time for the request is over";

/// The limits of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The most questions that are asked at once.
    pub questions: usize,
    /// The most repairs.
    pub repairs: u32,
    /// The time from the message to the summary, with the answers of people.
    pub request: Duration,
    /// The pauses before a read is tried again. Nothing else is.
    pub pauses: Vec<Duration>,
    /// The most bytes of files that a planner gets.
    pub context: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            questions: 3,
            repairs: 3,
            request: Duration::from_hours(24),
            pauses: [200, 500, 1000].map(Duration::from_millis).to_vec(),
            context: 200_000,
        }
    }
}

impl Context for Limits {
    type Summary = ();
}

/// What a person answers to a dangerous plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes(Scope),
    /// The reason.
    No(String),
}

fn first(count: usize, missing: &[String]) -> Vec<String> {
    missing.iter().take(count).cloned().collect()
}

/// A job of the agent: from a message to a summary.
///
/// A move that leaves a state waits while a call of the state is under way or in doubt. So a
/// summary begins only when none is; a person can settle one that stays in doubt.
#[machine(
    durable,
    context = Limits,
    fields(#[audience(human)] goal: String, work: Work, in = Active | Summarizing),
    fields(
        /// What the person has allowed. Only `confirm` fills it.
        consent: Option<Scope>,
        in = Running,
    ),
    on(give_up(blocked) => Summarizing, from = Active, by = GraphRunner),
    on(cancel(
        why: Option<String>,
        blocked = Some(Trouble::new(E_POLICY_DENIED, status, why.unwrap_or_default())),
    ) => Summarizing, from = Active),
    on(timeout(blocked = Some(Trouble::new(E_TOOL_TIMEOUT, status, OVERDUE))) => Summarizing,
       from = Active, by = GraphRunner, after = context.request)
)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Job {
    /// Waits for a person.
    #[initial]
    #[stable]
    #[on(user_message(goal, work = Work::default()) => Intake, by = Human)]
    Idle,

    /// Rates the risk, and finds out what is missing.
    #[group(Active)]
    #[on(understand(new: Work, missing: Vec<String>) => if missing.is_empty() {
        ContextBuilding(work = new)
    } else {
        Clarifying(work = new, questions = first(context.questions, &missing))
    }, by = GraphRunner)]
    Intake,

    /// Asks a person.
    #[stable]
    #[group(Active)]
    #[only_after(Intake)]
    #[on(clarification_answer(answer: String, goal = format!("{goal}\n{answer}")) => Intake,
         by = Human)]
    Clarifying {
        #[audience(human)]
        questions: Vec<String>,
    },

    /// Reads what the planner needs.
    #[group(Active)]
    #[only_after(Intake)]
    #[on(context_built(work) => Planning, by = GraphRunner)]
    ContextBuilding,

    /// Makes a plan.
    #[group(Active)]
    #[only_after(ContextBuilding)]
    #[on(plan_ready(new: Work) => if new.plan.is_dangerous() {
        AwaitingConfirmation(work = new)
    } else {
        Executing(work = new, consent = None, act = None)
    }, by = ReasoningNode)]
    Planning,

    /// A dangerous plan waits for a person.
    #[stable]
    #[group(Active)]
    #[only_after(Planning)]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes(scope) => Executing(consent = Some(scope), act = None),
        Answer::No(why) => Summarizing(blocked = Some(Trouble::new(E_POLICY_DENIED, status, why))),
    }, by = Human)]
    AwaitingConfirmation,

    /// Makes the calls of the plan, each in a visit. No person is on the way to a plan without
    /// danger; the tool refuses a call without consent.
    #[group(Active | Running)]
    #[only_after(Planning)]
    #[invoke(acts: [Act] = act, occurrence = work.at.to_string(), unattended)]
    #[on(tool_call_request(act) => Executing, by = GraphRunner)]
    #[on(tool_call_result(result: CallResult, new: Work) => match result {
        Ok(()) if new.is_executed() => Verifying(work = new, act = None),
        Ok(()) => Executing(work = new, act = None),
        Err(trouble) => Recovering(trouble, work = new),
    }, by = GraphRunner)]
    Executing { act: Option<Act> },

    /// Runs the commands of the verification, each in a visit.
    #[group(Active | Running)]
    #[only_after(Executing)]
    #[invoke(checks: [Act] = act, occurrence = work.at.to_string(), unattended)]
    #[on(check_request(act) => Verifying, by = GraphRunner)]
    #[on(verified(result: CallResult, new: Work) => match result {
        Ok(()) if new.is_verified() => Summarizing(work = new, blocked = None),
        Ok(()) => Verifying(work = new, act = None),
        Err(trouble) => Recovering(trouble, work = new),
    }, by = GraphRunner)]
    Verifying { act: Option<Act> },

    /// Repairs what failed, or gives up.
    #[group(Active | Running)]
    #[only_after(Executing)]
    #[on(recover(repair: Option<Work>) => match repair {
        Some(new) if new.at.attempt <= context.repairs => Executing(work = new, act = None),
        _ => Summarizing(blocked = Some(trouble)),
    }, by = GraphRunner)]
    Recovering { trouble: Trouble },

    /// Says what was done, or what is in the way.
    #[on(summarized(summary) => Done, by = GraphRunner)]
    Summarizing { blocked: Option<Trouble> },

    /// This round is over.
    #[stable]
    #[only_after(Summarizing)]
    #[on(next_round => Idle, by = Human)]
    Done {
        #[audience(human)]
        summary: Summary,
    },
}
