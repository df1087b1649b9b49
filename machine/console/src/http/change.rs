//! The event that subscribers get for a journal entry.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;

use machine::{
    Id,
    actor::Category,
    agent::{AgentEvent, AgentEvents},
    clock::Millis,
    contract::{AnyExecution, execution},
    definition::StateDef,
    journal::Fact,
    observe::Observer,
    store::{Committed, LoadError, Position, Store},
    view::{Human, Language},
};

/// The most machines that are remembered.
const SUBJECTS: usize = 4096;

/// A transition of an execution.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ExecutionState {
    /// The execution.
    execution_id: Id,
    /// A short description of the action.
    action_summary: String,
    /// The source state.
    from_status: String,
    /// The target state.
    to_status: String,
    /// The trigger.
    trigger: String,
    /// The category of the actor.
    actor_category: Category,
    /// The target state is never left.
    is_terminal: bool,
    /// It waits, and is not in doubt.
    is_resumable: bool,
    /// The action is marked as irreversible.
    has_side_effects: bool,
    /// When (milliseconds since the Unix epoch).
    timestamp: Millis,
}

/// A transition of any other machine.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct MachineState {
    /// The machine.
    id: Id,
    /// Its kind.
    machine: String,
    /// Its session.
    session: Option<String>,
    /// The source state.
    from_status: String,
    /// The target state.
    to_status: String,
    /// The trigger.
    trigger: String,
    /// The category of the actor.
    actor_category: Category,
    /// The target state is never left.
    is_terminal: bool,
    /// It waits, and can be left.
    is_resumable: bool,
    /// When (milliseconds since the Unix epoch).
    timestamp: Millis,
    /// Of the head of an agent: the events of the transition, each with its subject.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<serde_json::Value>)]
    agent_events: Vec<AgentEvent>,
}

/// Anything else that happened to a machine: it was created, or evidence or an answer was recorded.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Changed {
    /// The machine.
    id: Id,
    /// Its kind.
    machine: String,
    /// When (milliseconds since the Unix epoch).
    timestamp: Millis,
}

pub(super) const EVENTS: [&str; 3] = ["execution_state", "machine_state", "changed"];

#[derive(Debug)]
pub(super) struct Change {
    pub(super) position: Position,
    pub(super) id: Id,
    pub(super) machine: String,
    pub(super) session: Option<String>,
    /// One of [`EVENTS`].
    pub(super) event: &'static str,
    /// As JSON.
    pub(super) data: String,
}

/// The constant properties of a machine.
#[derive(Default)]
struct Subject {
    summary: String,
    is_irreversible: bool,
    session: Option<String>,
}

pub(super) struct Changes {
    pub(super) store: Store,
    observer: Observer,
    agents: AgentEvents,
    language: Language,
    subjects: Mutex<HashMap<Id, Arc<Subject>>>,
}

impl Changes {
    pub(super) fn new(store: &Store, language: Language) -> Self {
        Self {
            store: store.clone(),
            observer: Observer::new(store),
            agents: AgentEvents::new(store),
            language,
            subjects: Mutex::default(),
        }
    }

    pub(super) async fn of(&self, committed: &Committed) -> Result<Change, LoadError> {
        let Committed { position, id, definition, entry, .. } = committed;
        let (position, id) = (*position, *id);
        let is_execution = definition.name == execution::DEFINITION.name;
        let subject = self.subject(id, is_execution).await?;
        let machine = definition.name.to_string();
        let Fact::Moved { from, to, trigger, .. } = &entry.fact else {
            let data = json(&Changed { id, machine: machine.clone(), timestamp: entry.at });
            let session = subject.session.clone();
            return Ok(Change { position, id, machine, session, event: EVENTS[2], data });
        };
        let target: Option<&StateDef> = definition.state(to).map(|state| &definition.states[state]);
        let is_terminal = target.is_some_and(|state| state.terminal);
        let waits = target.is_some_and(|state| state.stable && !state.terminal);
        let actor = entry.actor.as_deref();
        let actor_category = actor.map_or(Category::System, |kind| definition.category(kind));
        let (from, to, trigger) = (from.to_string(), to.to_string(), trigger.to_string());
        let (event, data) = if is_execution {
            let state = ExecutionState {
                execution_id: id,
                action_summary: subject.summary.clone(),
                from_status: from,
                has_side_effects: subject.is_irreversible,
                to_status: to,
                trigger,
                actor_category,
                is_terminal,
                // An irreversible execution waits only while it is in doubt.
                is_resumable: waits && !subject.is_irreversible,
                timestamp: entry.at,
            };
            (EVENTS[0], json(&state))
        } else {
            let agent_events = match self.agents.of(committed).await {
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                // Unreadable: its transitions are still sent.
                events => events.unwrap_or_default(),
            };
            let state = MachineState {
                id,
                machine: machine.clone(),
                session: subject.session.clone(),
                from_status: from,
                to_status: to,
                trigger,
                actor_category,
                is_terminal,
                is_resumable: waits,
                timestamp: entry.at,
                agent_events,
            };
            (EVENTS[1], json(&state))
        };
        Ok(Change { position, id, machine, session: subject.session.clone(), event, data })
    }

    async fn subject(&self, id: Id, is_execution: bool) -> Result<Arc<Subject>, LoadError> {
        let subjects = || self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = subjects().get(&id) {
            return Ok(Arc::clone(known));
        }
        let found = if is_execution {
            self.store.load::<AnyExecution>(id).await.map(|execution| {
                let contract = execution.context();
                Subject {
                    summary: contract.summary_in(self.language).into_owned(),
                    is_irreversible: contract.is_irreversible(),
                    session: contract.session_id().map(str::to_owned),
                }
            })
        } else {
            let snapshot = self.observer.snapshot::<Human>(id).await;
            snapshot.map(|it| Subject { session: it.session.clone(), ..Subject::default() })
        };
        let subject = match found {
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // Pruned or unreadable: its transitions are still sent.
            found => found.unwrap_or_default(),
        };
        let subject = Arc::new(subject);
        let mut known = subjects();
        if known.len() >= SUBJECTS {
            known.clear();
        }
        known.insert(id, Arc::clone(&subject));
        Ok(subject)
    }
}

fn json(data: &impl Serialize) -> String {
    // Texts and numbers can always be written.
    crate::json::line(data).unwrap_or_default()
}
