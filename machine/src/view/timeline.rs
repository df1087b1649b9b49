use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Audience, Fields, Human, StateCalls, TransitionRecord, View,
    audience::is_hidden,
    data::StateData,
    marks::Marks,
    note::note,
    transition::{category, person},
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
/// assert_eq!(last.data.get("result").unwrap(), "12 lines");
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Timeline<A: Audience = Human> {
    /// The machine.
    pub id: Id,
    /// The number of entries in the history.
    pub total: u64,
    /// The problem, if the machine itself cannot be read: its row was changed, or newer entries are
    /// missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The error, which may repeat data.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub error: A::Internal<Option<String>>,
    /// What the calls do that it made by entering its state; only with the newest event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<StateCalls>,
    /// The events, oldest first: all of them, or the requested part.
    pub events: Vec<TimelineEvent<A>>,
}

/// An entry of a [`Timeline`].
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
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
    #[schema(value_type = Option<String>)]
    pub actor: A::Diagnostic<Option<String>>,
    /// The name of the actor.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub actor_name: A::Diagnostic<Option<String>>,
    /// The name of the person who did it, for every audience; `None` if no person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// A short description of the event.
    pub text: String,
    /// The transition, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<TransitionRecord<A>>,
    /// The payload that the actor provided.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub payload: Fields<A>,
    /// The data of the state after it, as far as the history tells. A journal has what actors
    /// brought, and no states; a field is known if the payload of a transition set it and the
    /// transitions since then left it as it was. Of the newest event, all fields are known where
    /// the state is at hand: in memory, or with an [`Observer`](crate::observe::Observer). In a
    /// part of a timeline, what its transitions and those shortly before it set is known.
    #[schema(value_type = Object)]
    pub data: Fields<A>,
    /// The names of the other fields: the machine was created with them, or its program computed
    /// them.
    pub unknown: Vec<String>,
    /// The facts, as the journal has them.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = serde_json::Value)]
    pub fact: A::Internal<Value>,
}

impl<A: Audience> Timeline<A> {
    /// Projects a history. The newest definition in the history decides who may
    /// see what.
    #[must_use]
    pub fn of(history: &History) -> View<Self> {
        let newest = history.entries.last().and_then(|entry| history.definition(entry));
        let total = history.entries.len() as u64;
        let part = Part { from: 0, transitions: 0, total, calls: None, error: None };
        Self::project(history, part, newest.map(Marks::of))
    }

    /// The entries of a part of a history. Without marks, payloads and the data of states are
    /// hidden from everyone.
    pub(crate) fn project(
        history: &History,
        Part { from, mut transitions, total, calls, error }: Part,
        marks: Option<Marks<'_>>,
    ) -> View<Self> {
        let mut data = StateData::default();
        let mut events = Vec::new();
        for entry in &history.entries {
            let written = history.definition(entry);
            data.add(entry, written, marks);
            let number = transitions;
            transitions += usize::from(matches!(entry.fact, Fact::Moved { .. }));
            if entry.number < from {
                continue;
            }
            let newest = history.newest.as_ref().filter(|_| entry.number + 1 == total);
            let (data, unknown) = match newest {
                Some(newest) => data.newest(newest, marks),
                None => data.shown(marks),
            };
            let actor_category = category(written, entry.actor.as_deref());
            events.push(TimelineEvent {
                number: entry.number,
                at: entry.at,
                actor_category,
                actor: A::__diagnostic(|| entry.actor.as_deref().map(str::to_owned)),
                actor_name: A::__diagnostic(|| entry.by.as_deref().map(str::to_owned)),
                person: person(actor_category, entry.by.as_deref()).map(str::to_owned),
                text: note(entry, written),
                payload: payload(entry, marks, written),
                data,
                unknown,
                transition: TransitionRecord::of(history.id, number, entry, written),
                fact: A::__internal(|| serde_json::to_value(&entry.fact).unwrap_or_default()),
            });
        }
        let problem = error.as_ref().map(|_| NEWEST_MAY_BE_MISSING.to_owned());
        View::new(Self {
            id: history.id,
            total,
            problem,
            error: A::__internal(|| error),
            calls,
            events,
        })
    }
}

const NEWEST_MAY_BE_MISSING: &str =
    "the machine cannot be read, so newer entries may be missing; `verify` reports the reason";

/// Facts about a part of a history that its entries do not contain.
pub(crate) struct Part {
    /// The number of the first entry to show; the history may begin before it.
    pub(crate) from: u64,
    /// The number of transitions before its first entry.
    pub(crate) transitions: usize,
    /// The number of entries of the whole history.
    pub(crate) total: u64,
    pub(crate) calls: Option<StateCalls>,
    pub(crate) error: Option<String>,
}

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
