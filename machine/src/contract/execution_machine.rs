use machine_derive::machine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Contract;
use crate::actor::{EcsNode, GraphRunner, ToolNode};

/// One attempt at an action, from submission to a terminal state.
///
/// The execution of an irreversible action enters RUNNING through [`Store::begin`], which
/// issues the permit; a store refuses one that was started in any other way.
///
/// [`Store::begin`]: crate::store::Store::begin
#[machine(durable, context = Contract, crate = crate::own)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Execution {
    /// Created, not yet handed to an executor.
    #[initial]
    #[on(start => Running, by = ToolNode | EcsNode)]
    Pending,

    /// An executor is working on it.
    #[on(succeed(result) => Completed, by = ToolNode | EcsNode | GraphRunner)]
    #[on(fail(error, refusal) => Failed, by = ToolNode | EcsNode | GraphRunner)]
    #[on(reject(reason) => Rejected, by = ToolNode | EcsNode | GraphRunner)]
    #[on(suspend(prompt) => Waiting, by = ToolNode | EcsNode | GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = ToolNode | EcsNode | GraphRunner)]
    Running,

    /// Parked until a person or another system answers; may last forever.
    #[stable]
    #[on(resume => Running, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner)]
    #[on(timeout(reason = "not answered in time".to_owned()) => Cancelled, by = GraphRunner,
        after = context.answer_limit())]
    Waiting {
        /// The reason for the wait, phrased as a question to a person.
        #[audience(human)]
        prompt: String,
    },

    /// It worked.
    #[terminal]
    Completed {
        /// The answer of the tool or of the person.
        #[audience(human)]
        result: String,
    },

    /// It was tried and did not work.
    #[terminal]
    Failed {
        /// Why, in the words of the side that failed or refused.
        #[audience(human)]
        error: String,
        /// The refusal of the tool, as JSON. See [`refusal`](crate::contract::refusal).
        #[audience(human)]
        refusal: Option<Value>,
    },

    /// It must not be done: denied, or not permitted.
    #[terminal]
    Rejected {
        /// The reason.
        #[audience(human)]
        reason: String,
    },

    /// It was abandoned: by a timeout, by a person, or to reclaim it.
    #[terminal]
    Cancelled {
        /// The reason.
        #[audience(human)]
        reason: String,
    },
}

impl Default for execution::Status {
    /// The state in which an execution begins.
    fn default() -> Self {
        Self::Pending
    }
}
