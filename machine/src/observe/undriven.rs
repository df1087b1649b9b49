//! Work that no live worker does: a handler, a tool, or a move that none of them has.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use crate::{
    clock::Millis,
    contract::{AnyExecution, Release, execution},
    definition::Definition,
    id::Id,
    language::{Language, Phrase},
    observe::waits_for_person,
    process::Liveness,
    store::{
        backend::Messages,
        error::LoadError,
        handle::Store,
        inbox::{crew::LiveWorker, message::Queued},
        read::{observe::Observed, query::Query},
    },
};

/// The time for which work may be ready before it is reported as undriven: workers start, and others end.
const PATIENCE: Duration = Duration::from_mins(1);

/// A machine that no live worker moves on.
#[derive(Debug, Clone)]
pub(crate) struct Undriven {
    pub(crate) id: Id,
    pub(crate) machine: String,
    pub(crate) needs: Needs,
}

/// A capability that the live workers lack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// A handler for machines of this kind.
    Handler(String),
    /// A tool of this name.
    Tool(String),
    /// A definition that has a trigger, which a queued message names.
    Move { machine: String, trigger: String },
    /// Actors of this kind, who sent a queued message.
    Sender { machine: String, kind: String },
    /// A definition of this kind that can read the machine, and why none can.
    Definition { machine: String, why: String },
}

impl Needs {
    /// Its kind: `handler`, `tool`, `move`, `sender` or `definition`.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Self::Handler(_) => "handler",
            Self::Tool(_) => "tool",
            Self::Move { .. } => "move",
            Self::Sender { .. } => "sender",
            Self::Definition { .. } => "definition",
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Handler(name) | Self::Tool(name) => name,
            Self::Move { trigger, .. } => trigger,
            Self::Sender { kind, .. } => kind,
            Self::Definition { machine, .. } => machine,
        }
    }
}

impl Needs {
    /// In words.
    pub(crate) fn say(&self, language: Language) -> String {
        match self {
            Self::Handler(machine) => language.say(Phrase::NeedsHandler, &[("machine", machine)]),
            Self::Tool(tool) => language.say(Phrase::NeedsTool, &[("tool", tool)]),
            Self::Move { machine, trigger } => {
                language.say(Phrase::NeedsMove, &[("machine", machine), ("trigger", trigger)])
            }
            Self::Sender { machine, kind } => {
                language.say(Phrase::NeedsSender, &[("machine", machine), ("kind", kind)])
            }
            Self::Definition { machine, why } => {
                language.say(Phrase::NeedsDefinition, &[("machine", machine), ("why", why)])
            }
        }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Language::English))
    }
}

/// The live workers, with what their programs know.
struct LiveWorkers {
    live: Vec<LiveWorker>,
    definitions: Vec<Arc<Definition>>,
}

impl LiveWorkers {
    fn drives(&self, machine: &str) -> bool {
        self.live.iter().any(|worker| worker.drives(machine))
    }

    /// The definitions of a kind that live workers have.
    fn definitions_of<'a>(&'a self, machine: &'a str) -> impl Iterator<Item = &'a Definition> {
        let kinds = self.live.iter().flat_map(|worker| &worker.kinds);
        let kinds = kinds.filter(move |kind| kind.machine == machine);
        kinds.filter_map(|kind| {
            let mut all = self.definitions.iter().map(|definition| &**definition);
            all.find(|definition| definition.fingerprint == kind.definition)
        })
    }

    /// The capability that the live workers lack for a machine that waits for a worker and is not an execution.
    fn lacks(&self, machine: &Observed, queued: &[Queued]) -> Option<Needs> {
        let own = &machine.definition;
        let name = own.name.to_string();
        if !self.drives(&name) {
            return Some(Needs::Handler(name));
        }
        let (state, _) = machine.state();
        let state = own.states[state].name.as_ref();
        let mut why = None;
        let mut can_read = false;
        for known in self.definitions_of(&name) {
            let comparison = own.compare(known);
            match comparison.blocking(state).next() {
                Some(change) => why = Some(change.to_string()),
                None => can_read = true,
            }
        }
        if let (false, Some(why)) = (can_read, why) {
            return Some(Needs::Definition { machine: name, why });
        }
        let mut triggers = queued.iter().filter_map(|message| message.trigger.as_deref());
        let removed = triggers.find(|trigger| {
            // Triggers that no definition has are set aside by any worker.
            let mut stored = self.definitions.iter().filter(|known| known.name == name);
            stored.any(|known| has(known, trigger))
                && !self.definitions_of(&name).any(|known| has(known, trigger))
        });
        if let Some(trigger) = removed {
            return Some(Needs::Move { machine: name, trigger: trigger.to_owned() });
        }
        let drivers = || self.live.iter().filter(|worker| worker.drives(&name));
        let mut actors = queued.iter().map(|message| message.actor.as_str());
        let unknown = actors.find(|kind| {
            own.edges.iter().any(|edge| edge.is_for_kind(kind))
                && drivers().all(|worker| worker.senders.iter().all(|known| known != kind))
        })?;
        Some(Needs::Sender { kind: unknown.to_owned(), machine: name.clone() })
    }
}

/// Returns `true` if a definition has a move with this trigger, or had it under that name.
fn has(definition: &Definition, trigger: &str) -> bool {
    let mut edges = definition.edges.iter();
    edges.any(|edge| edge.trigger == trigger || edge.was.iter().any(|was| was == trigger))
}

impl Store {
    /// The capability that the live workers lack for one machine now.
    pub(crate) async fn undriven_one(&self, id: Id) -> Result<Option<Needs>, LoadError> {
        let Some((crew, _)) = self.crew_of_all().await? else { return Ok(None) };
        let undriven = self.lacks(id, self.now(), &crew).await?;
        Ok(undriven.map(|undriven| undriven.needs))
    }

    /// The live workers, and the kinds that workers have driven. `None` if there never was a worker.
    async fn crew_of_all(&self) -> Result<Option<(LiveWorkers, Vec<String>)>, LoadError> {
        let driven = self.inner.backend.driven().await?;
        let live = self.workers().await?;
        if driven.is_empty() && live.is_empty() {
            return Ok(None);
        }
        Ok(Some((LiveWorkers { live, definitions: self.definitions().await? }, driven)))
    }

    /// The machines that are ready for longer than [`PATIENCE`], and for which no live worker has what they
    /// need; at most this many of each kind are read. None in a store that no worker has ever driven.
    pub(crate) async fn undriven(&self, limit: usize) -> Result<Vec<Undriven>, LoadError> {
        let Some((crew, driven)) = self.crew_of_all().await? else { return Ok(Vec::new()) };
        let patience = Millis::try_from(PATIENCE.as_millis()).unwrap_or(Millis::MAX);
        let before = self.now().saturating_sub(patience);
        let mut ready: Vec<Id> = Vec::new();
        for kind in &driven {
            let found = self.ready(std::slice::from_ref(kind), limit, Vec::new()).await?;
            ready.extend(found.iter().filter(|it| it.wake.at <= before).map(|it| it.id));
        }
        let kinds = crew.definitions.iter().map(|definition| definition.name.as_ref());
        let mut never_driven: Vec<&str> =
            kinds.filter(|kind| !driven.iter().any(|known| known == kind)).collect();
        never_driven.sort_unstable();
        never_driven.dedup();
        for kind in &never_driven {
            self.ready_without_worker(kind, limit, &crew, &mut ready).await?;
        }
        if !never_driven.is_empty() {
            let queued = self.inner.backend.messages(Messages::Queued(before, limit)).await?;
            ready.extend(queued.into_iter().flatten().map(|message| message.to));
        }
        let mut found = BTreeMap::new();
        for id in ready {
            if !found.contains_key(&id)
                && let Some(undriven) = self.lacks(id, before, &crew).await?
            {
                found.insert(id, undriven);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Machines of a kind that no worker has ever driven, in states that are left at once.
    async fn ready_without_worker(
        &self,
        kind: &str,
        limit: usize,
        crew: &LiveWorkers,
        ready: &mut Vec<Id>,
    ) -> Result<(), LoadError> {
        let mut states: Vec<&str> = Vec::new();
        for definition in crew.definitions.iter().filter(|known| known.name == kind) {
            let moves = definition.states.iter().filter(|state| !state.stable && !state.terminal);
            states.extend(moves.map(|state| state.name.as_ref()));
        }
        states.sort_unstable();
        states.dedup();
        for state in states {
            let query = Query::new().machine(kind).status(state).live().limit(limit);
            let lines = self.list(&query.unchanged_for(PATIENCE)).await?.items;
            ready.extend(lines.into_iter().flatten().map(|line| line.id));
        }
        Ok(())
    }

    /// The capability that the live workers lack for one machine, if it is for a worker to move it on.
    async fn lacks(
        &self,
        id: Id,
        before: Millis,
        crew: &LiveWorkers,
    ) -> Result<Option<Undriven>, LoadError> {
        let observed = match self.observed_one(id).await {
            Ok(observed) => observed,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // An unreadable machine is a separate concern.
            Err(_) => return Ok(None),
        };
        if observed.has_ended() {
            return Ok(None);
        }
        let (_, work, queued) = self.inner.backend.task(id).await?;
        if work.is_some_and(|work| work.handler.set_aside || work.deadline.set_aside) {
            // It waits for a person, who may requeue it.
            return Ok(None);
        }
        let machine = observed.definition.name.to_string();
        let needs = if observed.definition.name == execution::DEFINITION.name {
            match self.execution_of(observed).await {
                Ok(execution) => self.lacks_tool(&execution, crew).await?,
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Err(_) => None,
            }
        } else {
            // A waiting state needs a worker only once a message has come.
            let is_due = observed.due_at().is_some_and(|due_at| due_at <= before);
            let lasts =
                observed.waits() || waits_for_person(&observed.definition, observed.state().0);
            if lasts && queued.is_empty() && !is_due {
                None
            } else {
                crew.lacks(&observed, &queued)
            }
        };
        Ok(needs.map(|needs| Undriven { id, machine, needs }))
    }

    async fn lacks_tool(
        &self,
        execution: &AnyExecution,
        crew: &LiveWorkers,
    ) -> Result<Option<Needs>, LoadError> {
        let is_ready = match execution {
            AnyExecution::Pending(_) => Release::of(execution) != Some(Release::Deferred),
            AnyExecution::Running(running) => {
                matches!(self.liveness(running).await, Ok(Liveness::Ended))
            }
            _ => false,
        };
        let tool = execution.context().action().tool_name().filter(|_| is_ready);
        Ok(tool.filter(|tool| !crew.live.iter().any(|worker| worker.runs(tool))).map(Needs::Tool))
    }
}
