//! When a person is asked, and in which states: the conditions of planning and those of executing are
//! types of their own, so that code cannot raise one in the wrong state. What comes as data meets a
//! guard, which reads the same table.

use std::fmt;

use machine::actor::GraphRunner;
use serde::{Deserialize, Serialize};

use crate::{
    plan::{Plan, ProposedCall},
    workflow::{
        Workflow,
        workflow::{Executing, ManualIntervention, Planning},
    },
};

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The next step cannot be taken back, and matters too much to go unseen.
    SensitiveAction,
    /// A step failed several times in a row, or with an error that says nothing.
    HighConfidenceFailure,
    /// Two steps of the plan contradict each other.
    Ambiguity,
    /// A person asked for it.
    UserRequest,
    /// The policy forbids the next step.
    SecurityViolation,
}

/// The conditions that the engine can find while it plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanningCondition {
    SensitiveAction,
    Ambiguity,
    SecurityViolation,
}

/// The conditions that the engine can find while it executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutingCondition {
    SensitiveAction,
    HighConfidenceFailure,
    SecurityViolation,
}

impl From<PlanningCondition> for Condition {
    fn from(condition: PlanningCondition) -> Self {
        match condition {
            PlanningCondition::SensitiveAction => Self::SensitiveAction,
            PlanningCondition::Ambiguity => Self::Ambiguity,
            PlanningCondition::SecurityViolation => Self::SecurityViolation,
        }
    }
}

impl From<ExecutingCondition> for Condition {
    fn from(condition: ExecutingCondition) -> Self {
        match condition {
            ExecutingCondition::SensitiveAction => Self::SensitiveAction,
            ExecutingCondition::HighConfidenceFailure => Self::HighConfidenceFailure,
            ExecutingCondition::SecurityViolation => Self::SecurityViolation,
        }
    }
}

/// Everything that a person needs to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub condition: Condition,
    /// The exact finding.
    pub explanation: String,
    /// The next action of the engine if a person resumes.
    pub proposed_action: String,
    /// The agent's own words.
    pub reasoning: String,
    /// The calls that have ended.
    pub history: Vec<String>,
}

/// The data with which the engine continues if a person resumes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resume {
    /// The steps to do.
    pub plan: Plan,
    /// The call that the person lets pass by resuming, if the condition is about a call.
    pub cleared: Option<ProposedCall>,
}

/// A condition that was found; the state says which conditions can be in it.
#[derive(Debug)]
pub struct Found<C> {
    pub condition: C,
    pub explanation: String,
    pub cleared: Option<ProposedCall>,
}

/// An engine that can stop here and ask a person.
pub trait Pause: Sized {
    /// The conditions that can arise here.
    type Condition: Into<Condition>;

    /// Stops and asks.
    ///
    /// # Errors
    ///
    /// [`NotHere`] if [`Self::Condition`] and the guard of the state disagree, which is a bug of this program.
    fn pause(
        self,
        found: Found<Self::Condition>,
        plan: Plan,
        history: Vec<String>,
        by: &GraphRunner,
    ) -> Result<Workflow<ManualIntervention>, NotHere>;
}

impl Pause for Workflow<Planning> {
    type Condition = PlanningCondition;

    fn pause(
        self,
        found: Found<PlanningCondition>,
        plan: Plan,
        history: Vec<String>,
        by: &GraphRunner,
    ) -> Result<Workflow<ManualIntervention>, NotHere> {
        let (case, resume) = found.into_case(plan, history);
        self.need_intervention(case, resume, by).map_err(|refused| refused.reason)
    }
}

impl Pause for Workflow<Executing> {
    type Condition = ExecutingCondition;

    fn pause(
        self,
        found: Found<ExecutingCondition>,
        plan: Plan,
        history: Vec<String>,
        by: &GraphRunner,
    ) -> Result<Workflow<ManualIntervention>, NotHere> {
        let (case, resume) = found.into_case(plan, history);
        self.need_intervention(case, resume, by).map_err(|refused| refused.reason)
    }
}

impl<C: Into<Condition>> Found<C> {
    fn into_case(self, plan: Plan, history: Vec<String>) -> (Case, Resume) {
        let case = Case {
            condition: self.condition.into(),
            explanation: self.explanation,
            proposed_action: plan.proposal(),
            reasoning: plan.reasoning.clone(),
            history,
        };
        (case, Resume { plan, cleared: self.cleared })
    }
}

/// A condition that the engine cannot find in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHere {
    condition: Condition,
    state: &'static str,
}

impl fmt::Display for NotHere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, state } = self;
        write!(f, "{condition:?} cannot be raised by the engine while it is {state}")?;
        match condition {
            Condition::UserRequest => f.write_str("; a person sends `request_intervention`"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for NotHere {}

/// Guards a condition that comes as data.
pub fn while_planning(_: &Planning, case: &Case, _: &Resume) -> Result<(), NotHere> {
    use Condition::{
        Ambiguity, HighConfidenceFailure, SecurityViolation, SensitiveAction, UserRequest,
    };
    match case.condition {
        SensitiveAction | Ambiguity | SecurityViolation => Ok(()),
        condition @ (HighConfidenceFailure | UserRequest) => {
            Err(NotHere { condition, state: "planning" })
        }
    }
}

/// Guards a condition that comes as data.
pub fn while_executing(_: &Executing, case: &Case, _: &Resume) -> Result<(), NotHere> {
    use Condition::{
        Ambiguity, HighConfidenceFailure, SecurityViolation, SensitiveAction, UserRequest,
    };
    match case.condition {
        SensitiveAction | HighConfidenceFailure | SecurityViolation => Ok(()),
        condition @ (Ambiguity | UserRequest) => Err(NotHere { condition, state: "executing" }),
    }
}
