use serde::Serialize;

use super::{ConsequenceView, Label, Language, View};
use crate::{
    clock::millis_between,
    contract::{ActionType, AnyExecution, Progress},
    id::Id,
};

/// The record that a memory keeps of an execution that has ended. It has no key, no actor, and of
/// the tool's answer only the beginning.
///
/// A memory follows `Store::subscribe`, asks for the fact of each execution that has ended, and
/// keeps the position of the entry together with the fact.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec};
/// use machine::view::{ExecutionFact, FinalStatus};
///
/// let actors = Actors::issue("planner")?;
/// let tool = ToolSpec::idempotent("calendar", "create")?;
/// let contract = Contract::tool_call(&tool, "{}", &actors.reasoning_node)?.about("Standup");
/// let running = Execution::new(contract).start(&actors.tool_node);
/// let failed = running.fail("connection refused".to_owned(), None, &actors.tool_node);
///
/// let fact = ExecutionFact::of(&AnyExecution::from(failed)).expect("it has ended");
/// assert_eq!(fact.final_status, FinalStatus::Failed);
/// assert_eq!(fact.error_summary.as_deref(), Some("connection refused"));
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExecutionFact {
    /// Always `execution_fact`, so that a memory can tell facts apart.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The execution.
    pub execution_id: Id,
    /// The type of the action.
    pub action_type: ActionType,
    /// A short description of the action.
    pub action_summary: String,
    /// Its final status, as far as that is known now.
    pub final_status: FinalStatus,
    /// Its effect cannot be undone.
    pub irreversible: bool,
    /// The time from its creation to its end, in milliseconds.
    pub duration_ms: u64,
    /// The beginning of the answer: at most 200 characters.
    pub result_summary: Option<String>,
    /// The beginning of the reason why it was not done: at most 200 characters.
    pub error_summary: Option<String>,
}

/// The final status of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinalStatus {
    /// It was done.
    Completed,
    /// It was tried, and did not work.
    Failed,
    /// It was not permitted.
    Rejected,
    /// It was given up.
    Cancelled,
    /// It ended as not done, and a receipt says that it was done.
    Contradicted,
}

impl ExecutionFact {
    /// Projects an execution; `None` if it has not ended, or is irreversible and no store has
    /// recorded its end.
    #[must_use]
    pub fn of(execution: &AnyExecution) -> Option<View<Self>> {
        let ended = match execution {
            AnyExecution::Completed(_) => FinalStatus::Completed,
            AnyExecution::Failed(_) => FinalStatus::Failed,
            AnyExecution::Rejected(_) => FinalStatus::Rejected,
            AnyExecution::Cancelled(_) => FinalStatus::Cancelled,
            AnyExecution::Pending(_) | AnyExecution::Running(_) | AnyExecution::Waiting(_) => {
                return None;
            }
        };
        let is_contradicted = Progress::of(execution).is_contradicted();
        let view = ConsequenceView::project(execution, Language::English);
        if view.consequence_label == Label::Unconfirmed {
            return None;
        }
        let summary = execution.journal().past();
        Some(View::new(Self {
            kind: "execution_fact",
            execution_id: view.execution_id,
            action_type: view.action_type,
            action_summary: view.action_summary,
            final_status: if is_contradicted { FinalStatus::Contradicted } else { ended },
            irreversible: execution.context().is_irreversible(),
            duration_ms: millis_between(summary.created_at, summary.entered_at),
            result_summary: view.result.map(shortened),
            error_summary: view.error_message.map(shortened),
        }))
    }
}

/// The longest summary of an answer, in characters.
const LONGEST: usize = 200;

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
    }
    text
}
