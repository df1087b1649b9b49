use serde::Serialize;

use crate::{actor::Category, clock::Millis, id::Id, journal::Fact, stored::History};

/// One transition of a machine, as recorded in its journal (OB-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TransitionRecord {
    /// The machine.
    pub execution_id: Id,
    /// The position among the machine's transitions, from 0.
    pub sequence_number: usize,
    /// The source state.
    pub from_status: String,
    /// The target state.
    pub to_status: String,
    /// The trigger.
    pub trigger: String,
    /// The kind of the actor; `None` if any actor may make the move.
    pub actor: Option<String>,
    /// The name of the actor, such as `mailer`, for diagnosis; people see the category.
    pub actor_name: Option<String>,
    /// The category of the actor.
    pub actor_category: Category,
    /// When (milliseconds since the Unix epoch).
    pub timestamp: Millis,
    /// Whether the target state is terminal.
    pub is_terminal_transition: bool,
}

/// The transitions in a history, oldest first.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
/// use machine::stored::History;
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let running = Execution::new(contract).start(&actors.tool_node);
///
/// let history = History::of(&running).unwrap();
/// let transitions = machine::view::transitions(&history);
/// assert_eq!(transitions[0].to_status, "running");
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[must_use]
pub fn transitions(history: &History) -> Vec<TransitionRecord> {
    let moves = history.entries.iter().filter_map(|entry| match &entry.fact {
        Fact::Moved { from, to, trigger, .. } => Some((entry, from, to, trigger)),
        _ => None,
    });
    moves
        .enumerate()
        .map(|(sequence_number, (entry, from, to, trigger))| {
            let definition = history.definition(entry);
            let actor = entry.actor.as_deref();
            let category = definition.map(|known| known.category(actor.unwrap_or_default()));
            let target = definition.and_then(|known| Some(&known.states[known.state(to)?]));
            TransitionRecord {
                execution_id: history.id,
                sequence_number,
                from_status: from.to_string(),
                to_status: to.to_string(),
                trigger: trigger.to_string(),
                actor: actor.map(str::to_owned),
                actor_name: entry.by.as_deref().map(str::to_owned),
                actor_category: category.unwrap_or(Category::System),
                timestamp: entry.at,
                is_terminal_transition: target.is_some_and(|state| state.terminal),
            }
        })
        .collect()
}
