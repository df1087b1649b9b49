use serde::Serialize;

use super::{
    Action, Contract, Effect, Execution, InvalidContract, execution::Completed, terms::Rollback,
};
use crate::{
    actor::{GraphRunner, ReasoningNode},
    id::Id,
};

/// A compensation plan, as data: for each execution that took effect and declares how to undo it, the action
/// that undoes it, newest first.
///
/// Undoing is an action like any other: it is planned, approved, and run once.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, RollbackPlan, ToolSpec};
/// use machine::contract::Execution;
///
/// let actors = Actors::issue("coder")?;
/// let reasoner = &actors.reasoning_node;
/// let patch = ToolSpec::idempotent("files", "apply_patch")?;
/// let back = Contract::tool_call(&patch, r#"{"patch": "-new\n+old"}"#, reasoner)?;
/// let there = Contract::tool_call(&patch, r#"{"patch": "-old\n+new"}"#, reasoner)?
///     .undone_by(&back);
///
/// let done = Execution::new(there)
///     .start(&actors.tool_node)
///     .succeed("applied".to_owned(), &actors.tool_node);
/// let plan = RollbackPlan::of([&done]);
/// assert_eq!(plan.steps[0].action, *back.action());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RollbackPlan {
    /// The steps, in the order to run them.
    pub steps: Vec<RollbackStep>,
    /// The executions that took effect and do not say how to undo them, newest first.
    pub without: Vec<Id>,
}

/// A step of a [`RollbackPlan`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RollbackStep {
    /// The execution to undo.
    pub undoes: Id,
    /// Its summary.
    pub summary: String,
    /// The action that undoes it.
    pub action: Action,
    /// The effect of undoing it.
    pub effect: Effect,
    #[serde(skip)]
    how: Rollback,
}

impl RollbackPlan {
    /// The plan for some executions, given in the order in which they took effect.
    pub fn of<'a>(done: impl IntoIterator<Item = &'a Execution<Completed>>) -> Self {
        let mut plan = Self::default();
        for execution in done {
            let contract = execution.context();
            match contract.how_to_undo() {
                Some(how) => plan.steps.push(RollbackStep {
                    undoes: execution.id(),
                    summary: contract.summary().into_owned(),
                    action: how.action.clone(),
                    effect: how.effect,
                    how: how.clone(),
                }),
                None => plan.without.push(execution.id()),
            }
        }
        plan.steps.reverse();
        plan.without.reverse();
        plan
    }
}

impl RollbackStep {
    /// The contract of this step. Each execution that is undone has its own key, so that each is
    /// undone once: that is an occurrence, so it takes a [`GraphRunner`].
    ///
    /// # Errors
    ///
    /// [`InvalidContract::TooLarge`] if the action is too large.
    pub fn contract(
        &self,
        author: &ReasoningNode,
        _by: &GraphRunner,
    ) -> Result<Contract, InvalidContract> {
        self.how.contract(
            &format!("undo {}", self.undoes),
            format!("undo {}", self.summary),
            author,
        )
    }
}

impl Rollback {
    /// The contract of undoing it, on this occasion.
    pub(super) fn contract(
        &self,
        occasion: &str,
        summary: String,
        author: &ReasoningNode,
    ) -> Result<Contract, InvalidContract> {
        let action = self.action.on_occasion(occasion)?;
        let contract = Contract::new(action, summary, self.effect, author);
        Ok(contract.with_limits(self.timeout_ms, self.settling_ms))
    }
}
