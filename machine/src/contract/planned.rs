use std::ops::Deref;

use super::{
    Action, Callable, Contract, Execution, InvalidContract, NeedsNoPermit, Tool,
    execution::{Pending, Running},
};
use crate::{
    actor::{ReasoningNode, ToolNode},
    stored::Durable,
    typed::{Refused, Terminal},
};

impl Contract {
    /// The arguments of a call that is about to be begun, or run again.
    pub(crate) fn arguments_to_run<T: Callable>(&self) -> Result<T, InvalidContract> {
        let arguments = T::__read(self.action(), self.effect())?;
        arguments.__check(self.action(), self.effect())?;
        Ok(arguments)
    }
}

/// An execution that has not started, with the arguments of its call.
///
/// If the tool is known as a type, the compiler knows its effect: only a store can run an
/// irreversible tool, under a permit. [`Planned<Action>`] is for any tool.
#[derive(Debug)]
#[must_use = "it is not stored yet; pass it to a store"]
pub struct Planned<T: Callable> {
    execution: Execution<Pending>,
    arguments: T,
}

impl<T: Callable> Planned<T> {
    /// A new execution of this contract.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the contract is for another tool, or its arguments do not fit.
    pub fn new(contract: Contract) -> Result<Self, InvalidContract> {
        let arguments = contract.arguments_to_run()?;
        Ok(Self { execution: Execution::new(contract), arguments })
    }

    /// An execution that was loaded.
    ///
    /// # Errors
    ///
    /// See [`new`](Self::new). The execution comes back unchanged.
    pub fn of(
        execution: Execution<Pending>,
    ) -> Result<Self, Refused<Execution<Pending>, InvalidContract>> {
        match execution.context().arguments_to_run() {
            Ok(arguments) => Ok(Self { execution, arguments }),
            Err(reason) => Err(Refused::new(execution, reason)),
        }
    }

    /// The arguments of the call.
    pub fn arguments(&self) -> &T {
        &self.arguments
    }

    /// The execution, for a [`Batch`](crate::effects::Batch).
    pub fn machine(&mut self) -> &mut dyn Durable {
        &mut self.execution
    }

    /// The execution, without the type of its tool.
    pub fn into_execution(self) -> Execution<Pending> {
        self.execution
    }
}

impl<T: Tool> Planned<T> {
    /// Starts the call of a tool that needs no permit, for a program that makes the call.
    /// [`Store::perform`](crate::store::Store::perform) starts, calls and ends it.
    pub fn start(self, by: &ToolNode) -> Execution<Running>
    where
        T::Effect: NeedsNoPermit,
    {
        self.execution.start(by)
    }

    /// Creates a new attempt at an action that needs no permit, without a person. A person decides
    /// about other retries: [`Contract::retry`].
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the contract is for another tool, or the action was put behind a
    /// gate: then a person decides.
    pub fn repeat<S: Terminal>(
        ended: &Execution<S>,
        author: &ReasoningNode,
    ) -> Result<Self, InvalidContract>
    where
        T::Effect: NeedsNoPermit,
    {
        if ended.context().behind().is_some() {
            return Err(InvalidContract::NeedsApproval);
        }
        Self::new(ended.context().again(author))
    }
}

impl<T: Callable> Deref for Planned<T> {
    type Target = Execution<Pending>;

    fn deref(&self) -> &Execution<Pending> {
        &self.execution
    }
}

impl From<Execution<Pending>> for Planned<Action> {
    fn from(execution: Execution<Pending>) -> Self {
        let arguments = execution.context().action().clone();
        Self { execution, arguments }
    }
}
