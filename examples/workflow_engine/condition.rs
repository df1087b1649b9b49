//! When a person is asked, and in which states: the conditions of planning and those of executing
//! are types of their own, so that code cannot raise one in the wrong state. What comes as data
//! meets a guard, which reads the same types.

use machine::actor::GraphRunner;
use serde::{Deserialize, Serialize};

use crate::{
    work::Work,
    workflow::{
        Workflow,
        workflow::{Acting, DEFINITION, Executing, ManualIntervention, Planning},
    },
};

use {ExecutingCondition as E, PlanningCondition as P};

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The next step cannot be undone, and matters too much to go unseen.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutingCondition {
    SensitiveAction,
    HighConfidenceFailure,
    SecurityViolation,
}

impl From<PlanningCondition> for Condition {
    fn from(condition: PlanningCondition) -> Self {
        match condition {
            P::SensitiveAction => Self::SensitiveAction,
            P::Ambiguity => Self::Ambiguity,
            P::SecurityViolation => Self::SecurityViolation,
        }
    }
}

impl From<ExecutingCondition> for Condition {
    fn from(condition: ExecutingCondition) -> Self {
        match condition {
            E::SensitiveAction => Self::SensitiveAction,
            E::HighConfidenceFailure => Self::HighConfidenceFailure,
            E::SecurityViolation => Self::SecurityViolation,
        }
    }
}

/// What a person needs to decide, apart from the work; the state says which conditions can be in
/// it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case<C = Condition> {
    pub condition: C,
    /// The exact finding.
    pub explanation: String,
    /// The next action of the engine if a person resumes.
    pub proposed_action: String,
    /// The calls that have ended.
    pub history: Vec<String>,
}

/// A state in which the engine can stop and ask a person.
pub trait Asks: Acting {
    /// The conditions that can arise here.
    type Condition: Into<Condition> + Copy + 'static;
    /// All of them.
    const CONDITIONS: &'static [Self::Condition];
}

impl Asks for Planning {
    type Condition = P;
    const CONDITIONS: &'static [P] = &[P::SensitiveAction, P::Ambiguity, P::SecurityViolation];
}

impl Asks for Executing {
    type Condition = E;
    const CONDITIONS: &'static [E] =
        &[E::SensitiveAction, E::HighConfidenceFailure, E::SecurityViolation];
}

impl<C: Into<Condition>> Case<C> {
    /// Stops and asks. If a person resumes, the engine continues with this work.
    ///
    /// # Errors
    ///
    /// [`NotHere`] if it cannot arise here, which is a bug of this program.
    pub fn ask<S: Asks<Condition = C>>(
        self,
        engine: Workflow<S>,
        work: Work,
        by: &GraphRunner,
    ) -> Result<Workflow<ManualIntervention>, NotHere> {
        let Self { condition, explanation, proposed_action, history } = self;
        let case = Case { condition: condition.into(), explanation, proposed_action, history };
        engine.need_intervention(case, work, by).map_err(|refused| refused.reason)
    }
}

/// A condition that the engine cannot find in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{condition:?} cannot be raised by the engine while it is {state}{}", condition.hint())]
pub struct NotHere {
    condition: Condition,
    state: &'static str,
}

impl Condition {
    fn hint(self) -> &'static str {
        match self {
            Self::UserRequest => "; a person sends `request_intervention`",
            _ => "",
        }
    }
}

/// Guards a condition that comes as data.
pub fn can_arise<S: Asks>(_: &S, case: &Case, _: &Work) -> Result<(), NotHere> {
    let condition = case.condition;
    if S::CONDITIONS.iter().any(|&here| here.into() == condition) {
        return Ok(());
    }
    Err(NotHere { condition, state: &DEFINITION.states[S::INDEX].name })
}
