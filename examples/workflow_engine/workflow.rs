//! The engine as a machine: it takes a task, plans, executes, asks a person where it has to, and is
//! idle again. `workflow_engine topology workflow` prints the table, with `--format svg` the
//! drawing.
//!
//! A person who pauses the engine cancels a call that has not begun, in the same commit: from then
//! on no call begins until a person decides. A call that is under way continues, and is shown with
//! its age; if the person resumes, its outcome is taken. All times in `Working` count against the
//! limit of the task.
//!
//! An answer is for the intervention that the person saw: the page and the commands that `show`
//! prints say which one that is (`--seen`). The library refuses any other one.

use machine::{
    actor::{GraphRunner, Human, ReasoningNode},
    contract::ToolCall,
    machine,
};
use serde::{Deserialize, Serialize};

use crate::{
    condition::{Case, Condition, NotHere, can_arise},
    work::{Work, and},
};

/// An engine. It works on one task at a time, and is idle in between.
#[machine(durable,
    fields(#[audience(human)] goal: String, work: Work, in = Working | Finished),
    fields(
        /// Instructions that people added to the goal.
        #[audience(human)] instructions: Vec<String>,
        /// The calls that have ended.
        #[audience(human)] history: Vec<String>,
        in = Working,
    ),
    fields(
        #[audience(human)] reason: Condition,
        /// The exact finding.
        #[audience(human)] explanation: String,
        #[audience(human)] paused_in: String,
        /// The next step if a person resumes, and the steps of the plan after that one.
        #[audience(human)] proposed_action: String,
        #[audience(human)] later: Vec<String>,
        /// The agent's own words.
        #[audience(human)] reasoning: String,
        in = ManualIntervention,
    ),
    on(need_intervention(#[audience(human)] case: Case, next: Work,
        reason = case.condition, explanation = case.explanation.clone(),
        proposed_action = case.proposed_action.clone(), history = case.history.clone(),
        reasoning = next.plan.reasoning.clone(), later = next.plan.later(), paused_in = status.to_string(), work = next
    ) => ManualIntervention, from = Acting, by = GraphRunner, guard = can_arise -> NotHere),
    // No program can send this one, as no person can send the other.
    on(request_intervention(#[audience(human)] note: String,
        reason = Condition::UserRequest, explanation = note.clone(), proposed_action = work.plan.proposal(),
        reasoning = work.plan.reasoning.clone(), later = work.plan.later(), paused_in = status.to_string()
    ) => ManualIntervention, from = Acting, by = Human, detach),
    on(system_timeout(reason = "the time limit has passed".to_owned()) => Terminated,
        from = Working, by = GraphRunner, after = work.limit, detach),
    on(reset => Idle, from = Finished, by = GraphRunner)
)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Workflow {
    /// Has no task.
    #[initial]
    #[stable]
    #[on(start_task(goal, work, instructions = vec![], history = vec![]) => Initializing, by = GraphRunner)]
    Idle,

    /// The agent looks at the task.
    #[group(Working)]
    #[on(initialization_complete => Planning, by = GraphRunner)]
    #[on(initialization_failed(error) => Failed, by = GraphRunner)]
    Initializing,

    /// The agent says what to do next.
    #[group(Working | Acting)]
    #[on(plan_ready(work, failures = 0) => Executing, by = ReasoningNode)]
    #[on(planning_failed(error) => Failed, by = GraphRunner)]
    Planning,

    /// A tool carries out the first step of the plan, unless something is in its way. An
    /// irreversible call is made once in a task, however often the agent plans it.
    #[group(Working | Acting)]
    #[invoke(step: [ToolCall] = work.ready.call(), occurrence = work.session(), session = work.session(), unattended)]
    #[on(step_complete(history, work) => Planning, by = GraphRunner)]
    #[on(execution_complete(result) => Completed, by = GraphRunner)]
    #[on(step_failed(error) => Failed, by = GraphRunner)]
    #[on(retry_step(failures = failures + 1) => Executing, by = GraphRunner)]
    Executing { failures: u32 },

    /// Nothing happens until a person decides.
    #[group(Working)]
    #[stable]
    #[on(user_resume(failures = 0) => Executing, by = Human)]
    #[on(user_modify(#[audience(human)] instruction: String,
        instructions = and(instructions, instruction), work = work.unplanned()) => Planning, by = Human)]
    #[on(user_terminate(#[audience(human)] why: String,
        reason = format!("a person ended it: {why}")) => Terminated, by = Human)]
    ManualIntervention,

    /// The task is done.
    #[group(Finished)]
    Completed {
        #[audience(human)]
        result: String,
    },

    /// The task cannot be done.
    #[group(Finished)]
    Failed {
        #[audience(human)]
        error: String,
    },

    /// A person ended the task, or its time is up.
    #[group(Finished)]
    Terminated {
        #[audience(human)]
        reason: String,
    },
}
