//! The engine as a machine: it takes a task, plans, executes, asks a person where it has to, and is idle
//! again. `workflow_engine topology workflow` prints the table, with `--format svg` the drawing.
//!
//! A person who pauses the engine cancels the calls that have not begun, in the same commit: from then on no
//! call begins until a person decides. A call that is under way continues, and is shown with its age.
//!
//! The engine pauses with `need_intervention`; a person pauses it with `request_intervention`, which no
//! program can send, as no person can send the other. All times in `Working` count against the limit of the
//! task.
//!
//! An answer is for the intervention that the person saw: the page and the commands that `show` prints say
//! which one that is (`--seen`), and the library refuses one that comes late, or sets it aside. It also refuses
//! one to an engine that does not wait.

use machine::{
    actor::{GraphRunner, Human, ReasoningNode},
    machine,
};
use serde::{Deserialize, Serialize};

use crate::{
    condition::{Case, Condition, NotHere, Resume, while_executing, while_planning},
    plan::{Plan, ProposedCall},
    work::{Work, and},
};

/// An engine. It works on one task at a time, and is idle in between.
#[machine(durable,
    on(system_timeout(reason = work.out_of_time()) => Terminated,
        from = Working, by = GraphRunner, after = work.limit),
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
    Initializing {
        #[audience(human)]
        goal: String,
        /// Instructions that people added to the goal.
        #[audience(human)]
        instructions: Vec<String>,
        /// The calls that have ended.
        #[audience(human)]
        history: Vec<String>,
        work: Work,
    },

    /// The agent says what to do next.
    #[group(Working)]
    #[on(plan_ready(plan: Plan, work = work.with(plan), cleared = None) => Executing, by = ReasoningNode)]
    #[on(need_intervention(#[audience(human)] case: Case, resume: Resume,
        reason = case.condition,
        explanation = case.explanation.clone(),
        reasoning = case.reasoning.clone(),
        proposed_action = case.proposed_action.clone(),
        later = resume.plan.later(),
        history = case.history.clone(),
        paused_in = "planning".to_owned(),
        cleared = resume.cleared.clone(),
        work = work.with(resume.plan.clone())
    ) => ManualIntervention, by = GraphRunner, guard = while_planning -> NotHere)]
    #[on(request_intervention(#[audience(human)] note: String,
        reason = Condition::UserRequest,
        explanation = note.clone(),
        reasoning = work.plan.reasoning.clone(),
        proposed_action = work.plan.proposal(),
        later = work.plan.later(),
        paused_in = "planning".to_owned(),
        cleared = None,
        work = work.next_turn()
    ) => ManualIntervention, by = Human)]
    #[on(planning_failed(error) => Failed, by = GraphRunner)]
    Planning {
        #[audience(human)]
        goal: String,
        #[audience(human)]
        instructions: Vec<String>,
        #[audience(human)]
        history: Vec<String>,
        work: Work,
    },

    /// A tool carries out the first step of the plan.
    #[group(Working)]
    #[on(step_complete(history, work = work.step_done()) => Planning, by = GraphRunner)]
    #[on(execution_complete(result) => Completed, by = GraphRunner)]
    #[on(step_failed(error) => Failed, by = GraphRunner)]
    #[on(need_intervention(#[audience(human)] case: Case, resume: Resume,
        reason = case.condition,
        explanation = case.explanation.clone(),
        reasoning = case.reasoning.clone(),
        proposed_action = case.proposed_action.clone(),
        later = resume.plan.later(),
        history = case.history.clone(),
        paused_in = "executing".to_owned(),
        cleared = resume.cleared.clone(),
        // The attempts of this turn are over: a person who resumes wants another one.
        work = work.next_turn()
    ) => ManualIntervention, by = GraphRunner, guard = while_executing -> NotHere)]
    #[on(request_intervention(#[audience(human)] note: String,
        reason = Condition::UserRequest,
        explanation = note.clone(),
        reasoning = work.plan.reasoning.clone(),
        proposed_action = work.plan.proposal(),
        later = work.plan.later(),
        paused_in = "executing".to_owned(),
        // Calls that have begun continue; the others are cancelled, and are no attempts.
        work = work.next_turn()
    ) => ManualIntervention, by = Human)]
    Executing {
        #[audience(human)]
        goal: String,
        #[audience(human)]
        instructions: Vec<String>,
        #[audience(human)]
        history: Vec<String>,
        work: Work,
        /// The call that a person has seen and let pass. Any other one is checked.
        cleared: Option<ProposedCall>,
    },

    /// Nothing happens until a person decides.
    #[group(Working)]
    #[stable]
    #[on(user_resume => Executing, by = Human)]
    #[on(user_modify(
        #[audience(human)] instruction: String,
        instructions = and(instructions, instruction),
        work = work.without_plan()
    ) => Planning, by = Human)]
    #[on(user_terminate(
        #[audience(human)] why: String,
        reason = format!("a person ended it: {why}")
    ) => Terminated, by = Human)]
    ManualIntervention {
        #[audience(human)]
        reason: Condition,
        /// The exact finding.
        #[audience(human)]
        explanation: String,
        #[audience(human)]
        paused_in: String,
        /// The next step if a person resumes.
        #[audience(human)]
        proposed_action: String,
        /// The steps of the plan after that one.
        #[audience(human)]
        later: Vec<String>,
        /// The agent's own words.
        #[audience(human)]
        reasoning: String,
        #[audience(human)]
        goal: String,
        #[audience(human)]
        instructions: Vec<String>,
        #[audience(human)]
        history: Vec<String>,
        work: Work,
        cleared: Option<ProposedCall>,
    },

    /// The task is done.
    #[group(Finished)]
    Completed {
        #[audience(human)]
        goal: String,
        #[audience(human)]
        result: String,
        work: Work,
    },

    /// The task cannot be done.
    #[group(Finished)]
    Failed {
        #[audience(human)]
        goal: String,
        #[audience(human)]
        error: String,
        work: Work,
    },

    /// A person ended the task, or its time is up.
    #[group(Finished)]
    Terminated {
        #[audience(human)]
        goal: String,
        #[audience(human)]
        reason: String,
        work: Work,
    },
}
