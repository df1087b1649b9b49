use serde::Serialize;

use super::{
    Audience, Fields, Human, View,
    audience::{due, is_hidden},
    subject::Subject,
};
use crate::{
    actor::Category,
    clock::{Millis, millis_between},
    definition::{Definition, Move},
    id::Id,
    stored::Durable,
};

/// Any durable machine at one moment, as an audience may see it.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
/// use machine::view::{Human, Snapshot};
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "secret.txt"}"#, &actors.reasoning_node)?;
/// let running = Execution::new(contract).start(&actors.tool_node);
///
/// let now = running.journal().summary().updated_at;
/// let snapshot = Snapshot::<Human>::of(&running, now)?;
/// assert_eq!(snapshot.label, "RUNNING");
/// assert_eq!(snapshot.context.get("summary").unwrap(), "files.read");
/// // The arguments are internal.
/// assert_eq!(snapshot.context.get("action"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Snapshot<A: Audience = Human> {
    /// The machine.
    pub id: Id,
    /// Its kind, such as `execution`.
    pub machine: String,
    /// The state's name, such as `waiting`.
    pub status: String,
    /// The state's name in messages, such as `WAITING`.
    pub label: String,
    /// The session of the machine.
    pub session: Option<String>,
    /// When it was created (milliseconds since the Unix epoch).
    pub created_at: Millis,
    /// When it entered its state (milliseconds since the Unix epoch).
    pub entered_at: Millis,
    /// The time that it has been in its state (milliseconds).
    pub duration_in_state_ms: u64,
    /// Its state is never left.
    pub is_terminal: bool,
    /// Its state may last: it is terminal, or waits.
    pub is_stable: bool,
    /// Its state waits, and can be left.
    pub is_resumable: bool,
    /// The number of its transitions.
    pub transition_count: u64,
    /// The trigger of the last transition.
    pub last_trigger: Option<String>,
    /// The category of the actor of the last transition.
    pub last_actor_category: Option<Category>,
    /// The kind of the actor of the last transition.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Option<String>)]
    pub last_actor: A::Diagnostic<Option<String>>,
    /// When the next deadline is due (milliseconds since the Unix epoch, by the clock of the store;
    /// for people rounded down, to the minute if it is two or more away when the state is entered).
    pub due_at: Option<Millis>,
    /// The fencing epoch.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = u64)]
    pub epoch: A::Diagnostic<u64>,
    /// The number of its journal entries.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = u64)]
    pub version: A::Diagnostic<u64>,
    /// The moves that its state allows.
    pub moves: Vec<LegalMove<A>>,
    /// The data of its state.
    #[schema(value_type = Object)]
    pub state: Fields<A>,
    /// Its context.
    #[schema(value_type = Object)]
    pub context: Fields<A>,
}

/// A move that is legal in the state of a [`Snapshot`].
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct LegalMove<A: Audience = Human> {
    /// The trigger.
    pub trigger: String,
    /// The states that it can lead to.
    pub targets: Vec<String>,
    /// The payload that the caller provides.
    pub payload: Vec<PayloadItem>,
    /// The categories of the actors that may make it; empty means anyone.
    pub categories: Vec<Category>,
    /// The kinds of these actors.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Vec<String>)]
    pub actors: A::Diagnostic<Vec<String>>,
}

/// A value that a move takes, such as `amount: u32`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct PayloadItem {
    /// Its name.
    pub name: String,
    /// Its type, as the definition writes it.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    pub ty: String,
    /// It may be missing.
    pub optional: bool,
}

impl<A: Audience> LegalMove<A> {
    fn of(definition: &Definition, step: Move<'_>) -> Self {
        let mut categories: Vec<Category> = Vec::new();
        for actor in &*step.edge().actors {
            let category = definition.category(actor);
            if !categories.contains(&category) {
                categories.push(category);
            }
        }
        Self {
            trigger: step.trigger().to_owned(),
            payload: step
                .edge()
                .payload
                .iter()
                .map(|item| PayloadItem {
                    name: item.name.to_string(),
                    ty: item.ty.to_string(),
                    optional: item.optional,
                })
                .collect(),
            targets: step.targets().map(|state| state.name.to_string()).collect(),
            categories,
            actors: A::__diagnostic(|| {
                step.edge().actors.iter().map(ToString::to_string).collect()
            }),
        }
    }
}

impl<A: Audience> Snapshot<A> {
    /// A machine in memory, including unstored entries. `now` is the time in milliseconds since the
    /// Unix epoch, such as that of the store's clock.
    ///
    /// # Errors
    ///
    /// If its state or context cannot be written as JSON; then a store refuses it, too.
    pub fn of(machine: &dyn Durable, now: Millis) -> serde_json::Result<View<Self>> {
        Subject::of(machine).map(|subject| View::new(Self::of_subject(&subject, now)))
    }

    /// The visible data in one line.
    pub(crate) fn data(&self) -> String {
        let data = [self.context.to_string(), self.state.to_string()];
        data.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn of_subject(subject: &Subject<'_>, now: Millis) -> Self {
        let Subject { definition, summary, .. } = subject;
        let state = subject.state();
        let actor = summary.last_actor.as_deref();
        let moves = definition.moves(subject.state);
        Self {
            id: subject.id,
            machine: definition.name.to_string(),
            status: state.name.to_string(),
            label: state.label.to_string(),
            session: subject.session.clone(),
            created_at: summary.created_at,
            entered_at: summary.entered_at,
            duration_in_state_ms: millis_between(summary.entered_at, now),
            is_terminal: state.terminal,
            is_stable: state.stable || state.terminal,
            is_resumable: state.stable && !state.terminal,
            transition_count: summary.transitions,
            last_trigger: summary.last_trigger.as_deref().map(str::to_owned),
            last_actor_category: actor.map(|kind| definition.category(kind)),
            last_actor: A::__diagnostic(|| actor.map(str::to_owned)),
            due_at: summary.due_at().map(|at| due::<A>(at, summary.entered_at)),
            epoch: A::__diagnostic(|| subject.epoch),
            version: A::__diagnostic(|| subject.version),
            moves: moves.map(|step| LegalMove::of(definition, step)).collect(),
            state: subject.data(),
            context: subject.context(),
        }
    }
}
