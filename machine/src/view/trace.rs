use serde::Serialize;
use serde_json::{Value, json};

use super::View;
use crate::{clock::Millis, contract::Contract, journal::Fact, stored::History};

/// Every creation and transition of some executions, in chronological order. It names actors, so
/// it is for diagnosis; [`Timeline`](super::Timeline) is also for people.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec};
/// use machine::stored::History;
/// use machine::view::ExecutionTrace;
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let running = AnyExecution::from(Execution::new(contract).start(&actors.tool_node));
/// let id = running.id();
///
/// let history = History::of(&running).unwrap();
/// let trace = ExecutionTrace::of(&[(running.context(), history)], 50);
/// assert_eq!(trace.steps[0].action, format!("create_contract:{id}"));
/// assert_eq!(trace.steps[1].action, format!("transition:{id}:pending->running"));
/// assert_eq!(trace.omitted, 0);
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExecutionTrace {
    /// The steps, oldest first.
    pub steps: Vec<TraceStep>,
    /// The number of older steps that the cap left out. They are still in the journals.
    pub omitted: usize,
}

/// A step of an [`ExecutionTrace`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceStep {
    /// The kind of the actor.
    pub node_id: String,
    /// `create_contract:ID` or `transition:ID:from->to`.
    pub action: String,
    /// The result, error or reason, if the step has one.
    pub result: Option<String>,
    /// Trigger, actor, contract id, and whether the action is irreversible.
    pub metadata: Value,
    /// When (milliseconds since the Unix epoch).
    pub at: Millis,
}

impl ExecutionTrace {
    /// The newest `cap` steps of each execution, in chronological order.
    #[must_use]
    pub fn of(executions: &[(&Contract, History)], cap: usize) -> View<Self> {
        let mut trace = Self { steps: Vec::new(), omitted: 0 };
        for (contract, history) in executions {
            let steps = steps_of(contract, history);
            let omitted = steps.len().saturating_sub(cap);
            trace.omitted += omitted;
            trace.steps.extend(steps.into_iter().skip(omitted));
        }
        // Stable, so that steps of one execution within the same millisecond stay in order.
        trace.steps.sort_by_key(|step| step.at);
        View::new(trace)
    }
}

fn steps_of(contract: &Contract, history: &History) -> Vec<TraceStep> {
    let id = history.id;
    let irreversible = contract.is_irreversible();
    history
        .entries
        .iter()
        .filter_map(|entry| {
            let actor = entry.actor.as_deref();
            let (action, trigger, result) = match &entry.fact {
                Fact::Created { .. } => (format!("create_contract:{id}"), None, None),
                Fact::Moved { from, to, trigger, payload, .. } => {
                    let ended = ["result", "error", "reason"];
                    let result = ended.iter().find_map(|name| payload.get(*name)?.as_str());
                    (
                        format!("transition:{id}:{from}->{to}"),
                        Some(trigger.as_ref()),
                        result.map(str::to_owned),
                    )
                }
                _ => return None,
            };
            Some(TraceStep {
                node_id: actor.unwrap_or_default().to_owned(),
                action,
                result,
                metadata: json!({
                    "trigger": trigger,
                    "actor": actor,
                    "actor_name": entry.by,
                    "contract_id": id,
                    "irreversible": irreversible,
                }),
                at: entry.at,
            })
        })
        .collect()
}
