use serde::Serialize;
use serde_json::Value;

use super::{
    Audience, Fields, Human, Language, TransitionRecord, audience::is_hidden, marks::Marks,
    note::note, transition::category,
};
use crate::{
    actor::Category,
    clock::Millis,
    definition::Definition,
    id::Id,
    journal::{Entry, Fact},
    stored::History,
};

/// The history of one machine of any kind, as an audience may see it.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
/// use machine::stored::History;
/// use machine::view::{Human, Timeline};
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let read = Execution::new(contract)
///     .start(&actors.tool_node)
///     .succeed("12 lines".to_owned(), &actors.tool_node);
///
/// let timeline = Timeline::<Human>::of(&History::of(&read).unwrap());
/// let last = timeline.events.last().unwrap();
/// assert_eq!(last.transition.as_ref().unwrap().to_status, "completed");
/// assert_eq!(last.payload.get("result").unwrap(), "12 lines");
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "http",
    derive(utoipa::ToSchema),
    schema(bound = "A: Audience + utoipa::ToSchema")
)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Timeline<A: Audience = Human> {
    /// The machine.
    pub id: Id,
    /// What happened, oldest first.
    pub events: Vec<TimelineEvent<A>>,
}

/// An entry of a [`Timeline`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "http",
    derive(utoipa::ToSchema),
    schema(bound = "A: Audience + utoipa::ToSchema")
)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct TimelineEvent<A: Audience = Human> {
    /// The position in the journal of the machine, from 0.
    pub number: u64,
    /// When (milliseconds since the Unix epoch).
    pub at: Millis,
    /// The category of the actor.
    pub actor_category: Category,
    /// The kind of the actor.
    #[serde(skip_serializing_if = "is_hidden")]
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, required = false))]
    pub actor: A::Diagnostic<Option<String>>,
    /// The name of the actor.
    #[serde(skip_serializing_if = "is_hidden")]
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, required = false))]
    pub actor_name: A::Diagnostic<Option<String>>,
    /// What happened, in a few words.
    pub text: String,
    /// The transition, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<TransitionRecord<A>>,
    /// What the actor brought to it.
    #[serde(skip_serializing_if = "Fields::is_empty")]
    #[cfg_attr(feature = "http", schema(value_type = Object))]
    pub payload: Fields<A>,
    /// The facts, as the journal has them.
    #[serde(skip_serializing_if = "is_hidden")]
    #[cfg_attr(feature = "http", schema(value_type = serde_json::Value, required = false))]
    pub fact: A::Internal<Value>,
}

impl<A: Audience> Timeline<A> {
    /// Projects a history, with texts in English. The newest definition in the history decides who may
    /// see what.
    #[must_use]
    pub fn of(history: &History) -> Self {
        Self::in_language(history, Language::English)
    }

    /// The same with texts in another language.
    #[must_use]
    pub fn in_language(history: &History, language: Language) -> Self {
        let newest = history.entries.last().and_then(|entry| history.definition(entry));
        Self::project(history, newest.map(Marks::of), language)
    }

    /// Without marks, nobody sees a payload.
    pub(super) fn project(history: &History, marks: Option<Marks<'_>>, language: Language) -> Self {
        let mut transitions = 0;
        let events = history.entries.iter().map(|entry| {
            let written = history.definition(entry);
            let transition = TransitionRecord::of(history.id, transitions, entry, written);
            transitions += usize::from(transition.is_some());
            TimelineEvent {
                number: entry.number,
                at: entry.at,
                actor_category: category(written, entry.actor.as_deref()),
                actor: A::__diagnostic(|| entry.actor.as_deref().map(str::to_owned)),
                actor_name: A::__diagnostic(|| entry.by.as_deref().map(str::to_owned)),
                text: note(entry, written, language),
                payload: payload(entry, marks, written),
                transition,
                fact: A::__internal(|| serde_json::to_value(&entry.fact).unwrap_or_default()),
            }
        });
        Self { id: history.id, events: events.collect() }
    }
}

/// What the actor brought.
fn payload<A: Audience>(
    entry: &Entry,
    marks: Option<Marks<'_>>,
    written: Option<&Definition>,
) -> Fields<A> {
    let (Fact::Moved { from, to, trigger, payload, .. }, Some(marks)) = (&entry.fact, marks) else {
        return Fields::none();
    };
    let step = (&**from, &**trigger, &**to);
    Fields::of(Value::Object(payload.clone()), |name| marks.of_item(step, written, name))
}
