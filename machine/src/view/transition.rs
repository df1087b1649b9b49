use serde::Serialize;

use super::{Audience, Human, audience::is_hidden};
#[cfg(feature = "sqlite")]
use crate::journal::{Kind, Line};
use crate::{
    actor::Category,
    clock::Millis,
    definition::Definition,
    id::Id,
    journal::{Entry, Fact},
    stored::History,
};

/// One transition of a machine, as recorded in its journal (OB-2).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "http",
    derive(utoipa::ToSchema),
    schema(bound = "A: Audience + utoipa::ToSchema")
)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct TransitionRecord<A: Audience = Human> {
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
    #[serde(skip_serializing_if = "is_hidden")]
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, required = false))]
    pub actor: A::Diagnostic<Option<String>>,
    /// The name of the actor, such as `mailer`.
    #[serde(skip_serializing_if = "is_hidden")]
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, required = false))]
    pub actor_name: A::Diagnostic<Option<String>>,
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
/// use machine::view::{Human, transitions};
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let running = Execution::new(contract).start(&actors.tool_node);
///
/// let history = History::of(&running).unwrap();
/// assert_eq!(transitions::<Human>(&history)[0].to_status, "running");
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[must_use]
pub fn transitions<A: Audience>(history: &History) -> Vec<TransitionRecord<A>> {
    let moves = history.entries.iter().filter(|entry| matches!(entry.fact, Fact::Moved { .. }));
    moves
        .enumerate()
        .filter_map(|(number, entry)| {
            TransitionRecord::of(history.id, number, entry, history.definition(entry))
        })
        .collect()
}

impl<A: Audience> TransitionRecord<A> {
    /// The record of an entry; `None` if it is not a transition.
    pub(super) fn of(
        id: Id,
        sequence_number: usize,
        entry: &Entry,
        definition: Option<&Definition>,
    ) -> Option<Self> {
        let Fact::Moved { from, to, trigger, .. } = &entry.fact else { return None };
        let actor = entry.actor.as_deref();
        let target = definition.and_then(|known| Some(&known.states[known.state(to)?]));
        Some(Self {
            execution_id: id,
            sequence_number,
            from_status: from.to_string(),
            to_status: to.to_string(),
            trigger: trigger.to_string(),
            actor: A::__diagnostic(|| actor.map(str::to_owned)),
            actor_name: A::__diagnostic(|| entry.by.as_deref().map(str::to_owned)),
            actor_category: category(definition, actor),
            timestamp: entry.at,
            is_terminal_transition: target.is_some_and(|state| state.terminal),
        })
    }
}

#[cfg(feature = "sqlite")]
impl<A: Audience> TransitionRecord<A> {
    /// The same of an entry as a store keeps it. Only what is shown is read.
    ///
    /// # Errors
    ///
    /// What is wrong with the line.
    pub(crate) fn of_line(
        id: Id,
        sequence_number: usize,
        line: &Line,
        definition: &Definition,
    ) -> Result<Option<Self>, String> {
        #[derive(serde::Deserialize)]
        struct Body {
            by: Option<String>,
        }
        if line.kind != Kind::Moved {
            return Ok(None);
        }
        let edge = line.edge.and_then(|edge| definition.edges.get(edge as usize));
        let edge = edge.ok_or("its transition is unknown")?;
        // The digest has shown that it is as it was written.
        let name = || serde_json::from_str(line.body.as_deref()?).ok().and_then(|Body { by }| by);
        let (from, target) = (&definition.states[edge.from], &definition.states[edge.to]);
        let actor = line.actor.as_deref();
        Ok(Some(Self {
            execution_id: id,
            sequence_number,
            from_status: from.name.to_string(),
            to_status: target.name.to_string(),
            trigger: edge.trigger.to_string(),
            actor: A::__diagnostic(|| actor.map(str::to_owned)),
            actor_name: A::__diagnostic(name),
            actor_category: category(Some(definition), actor),
            timestamp: line.at,
            is_terminal_transition: target.terminal,
        }))
    }
}

/// The category of who made an entry.
pub(super) fn category(definition: Option<&Definition>, actor: Option<&str>) -> Category {
    let known = definition.map(|known| known.category(actor.unwrap_or_default()));
    known.unwrap_or(Category::System)
}
