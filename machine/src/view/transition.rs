use std::sync::Arc;

use serde::Serialize;

use super::{Audience, Human, View, audience::is_hidden};
#[cfg(feature = "store")]
use crate::store::read::transitions::Step;
use crate::{
    actor::Category,
    clock::Millis,
    definition::{Definition, Text},
    id::Id,
    journal::{Entry, Fact},
    stored::History,
};

/// One transition of a machine, as recorded in its journal.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct TransitionRecord<A: Audience = Human> {
    /// The machine.
    pub execution_id: Id,
    /// The position among the machine's transitions, from 0.
    pub sequence_number: usize,
    /// The source state.
    #[schema(value_type = String)]
    pub from_status: Text,
    /// The target state.
    #[schema(value_type = String)]
    pub to_status: Text,
    /// The trigger.
    #[schema(value_type = String)]
    pub trigger: Text,
    /// The kind of the actor; `None` if none was named.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub actor: A::Diagnostic<Option<Text>>,
    /// The name of the actor, such as `mailer`.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub actor_name: A::Diagnostic<Option<Arc<str>>>,
    /// The name of the person who made it, for every audience; `None` if no person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub person: Option<Arc<str>>,
    /// The category of the actor.
    pub actor_category: Category,
    /// When (milliseconds since the Unix epoch).
    pub timestamp: Millis,
    /// True if the target state is terminal.
    pub is_terminal_transition: bool,
    /// It stayed in its state: no visit began, and no deadline started again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stays: bool,
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
pub fn transitions<A: Audience>(history: &History) -> Vec<View<TransitionRecord<A>>> {
    let moves = history.entries.iter().filter(|entry| matches!(entry.fact, Fact::Moved { .. }));
    moves
        .enumerate()
        .filter_map(|(number, entry)| {
            TransitionRecord::of(history.id, number, entry, history.definition(entry))
                .map(View::new)
        })
        .collect()
}

impl<A: Audience> TransitionRecord<A> {
    /// The record of an entry; `None` if it is not a transition.
    pub(crate) fn of(
        id: Id,
        sequence_number: usize,
        entry: &Entry,
        definition: Option<&Definition>,
    ) -> Option<Self> {
        let Fact::Moved { from, to, trigger, stays, .. } = &entry.fact else { return None };
        let target = definition.and_then(|known| Some(&known.states[known.state(to)?]));
        let actor_category = category(definition, entry.actor.as_deref());
        Some(Self {
            execution_id: id,
            sequence_number,
            from_status: from.clone(),
            to_status: to.clone(),
            trigger: trigger.clone(),
            actor: A::__diagnostic(|| entry.actor.clone()),
            actor_name: A::__diagnostic(|| entry.by.as_deref().map(Arc::from)),
            person: person(actor_category, entry.by.as_deref()).map(Arc::from),
            actor_category,
            timestamp: entry.at,
            is_terminal_transition: target.is_some_and(|state| state.terminal),
            stays: *stays,
        })
    }
}

#[cfg(feature = "store")]
impl<A: Audience> TransitionRecord<A> {
    /// The record of a stored transition.
    ///
    /// # Errors
    ///
    /// If the definition has no such transition.
    pub(crate) fn of_step(
        id: Id,
        sequence_number: usize,
        step: &Step,
        definition: &Definition,
    ) -> Result<Self, String> {
        let edge = step.edge.and_then(|edge| definition.edges.get(edge as usize));
        let edge =
            edge.ok_or_else(|| format!("entry {}: its transition is unknown", step.number))?;
        let target = &definition.states[edge.to];
        let actor = step.actor.as_deref();
        let declared = definition.actors.iter().find(|known| Some(&*known.kind) == actor);
        let kind = || match declared {
            Some(declared) => Some(declared.kind.clone()),
            None => actor.map(|actor| Text::Owned(actor.to_owned())),
        };
        let undeclared = || Category::of_kind(actor.unwrap_or_default());
        let actor_category = declared.map_or_else(undeclared, |declared| declared.category);
        Ok(Self {
            execution_id: id,
            sequence_number,
            from_status: definition.states[edge.from].name.clone(),
            to_status: target.name.clone(),
            trigger: edge.trigger.clone(),
            actor: A::__diagnostic(kind),
            actor_name: A::__diagnostic(|| step.name.clone()),
            person: person(actor_category, step.name.as_deref()).map(Arc::from),
            actor_category,
            timestamp: step.at,
            is_terminal_transition: target.terminal,
            stays: step.stays,
        })
    }
}

/// The name of a person. Names of programs are for diagnosis; the name of the person who decided is
/// for every audience.
pub(crate) fn person(category: Category, name: Option<&str>) -> Option<&str> {
    name.filter(|_| category == Category::Human)
}

pub(crate) fn category(definition: Option<&Definition>, actor: Option<&str>) -> Category {
    let known = definition.map(|known| known.category(actor.unwrap_or_default()));
    known.unwrap_or(Category::System)
}
