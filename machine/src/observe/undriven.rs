//! Work that no live worker does: a handler or a tool that none of them has, or only one that is
//! silent, or what each leaves to another program.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use crate::{
    clock::{Millis, earlier},
    contract::{AnyExecution, Release, execution},
    definition::Definition,
    id::Id,
    process::{Liveness, Process},
    store::{
        backend::{Messages, ReadyMachine},
        error::LoadError,
        handle::Store,
        inbox::{crew::LiveWorker, protocol::Schedule},
        read::query::Query,
    },
};

/// The time for which work may be ready before it is reported as undriven, because workers start,
/// and others end; and a machine may be stuck.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A machine that no live worker moves on.
#[derive(Debug, Clone)]
pub(crate) struct Undriven {
    pub(crate) id: Id,
    pub(crate) unmet: Unmet,
}

/// What a machine needs of a worker for its next move.
#[derive(Debug)]
pub(crate) struct Need {
    /// What no live worker has.
    pub(crate) unmet: Option<Unmet>,
    /// `false` in a store that no worker has ever driven.
    pub(crate) has_workers: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    Handler(String),
    Tool(String),
}

impl Needs {
    pub(crate) fn name(&self) -> &str {
        let (Self::Handler(name) | Self::Tool(name)) = self;
        name
    }

    /// The kind of the machines that need it.
    pub(crate) fn machine(&self) -> &str {
        match self {
            Self::Handler(machine) => machine,
            Self::Tool(_) => &execution::DEFINITION.name,
        }
    }
}

/// What no live worker has, unless it is silent, or leaves the machine to another program.
#[derive(Debug, Clone)]
pub(crate) struct Unmet {
    pub(crate) needs: Needs,
    lack: Lack,
}

impl Unmet {
    /// The kind of what is missing: `handler`, `tool` or `program`.
    pub(crate) fn what(&self) -> &'static str {
        match (&self.lack, &self.needs) {
            (Lack::Program, _) => "program",
            (_, Needs::Handler(_)) => "handler",
            (_, Needs::Tool(_)) => "tool",
        }
    }
}

/// Why nothing meets a need.
#[derive(Debug, Clone)]
enum Lack {
    Workers,
    Capability,
    /// The worker that has it is silent.
    Life(Process),
    /// Those that have it do not take a message to the machine, or do not read it.
    Program,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, which) = match &self.needs {
            Needs::Handler(machine) => (format!("drives `{machine}`"), "does"),
            Needs::Tool(tool) => {
                (format!("has the tool `{tool}`"), "has it, or add `.tool(..)` to its worker")
            }
        };
        match &self.lack {
            Lack::Workers => {
                write!(f, "no worker has ever opened this file: start the program that {does}")
            }
            Lack::Capability => {
                write!(f, "no live worker {does}: start the program that {which}")
            }
            Lack::Life(process) => {
                write!(
                    f,
                    "the worker that {does}, in {process}, has not looked for work for a minute or longer: if it is \
                     frozen or blocked, end it and start its program again"
                )
            }
            Lack::Program => {
                let machine = self.needs.name();
                write!(
                    f,
                    "no live worker takes the message to this `{machine}`, or reads its state: start the program that does"
                )
            }
        }
    }
}

/// The live workers, and the kinds that workers have driven.
struct Workers {
    live: Vec<LiveWorker>,
    driven: Vec<String>,
}

impl Workers {
    /// `false` in a store that no worker has ever driven.
    fn are_used(&self) -> bool {
        !self.driven.is_empty() || !self.live.is_empty()
    }

    /// A worker that has this: one that looks for work, if there is one.
    fn with(&self, needs: &Needs) -> Option<&LiveWorker> {
        let have = self.live.iter().filter(|worker| match needs {
            Needs::Handler(machine) => worker.drives(machine),
            Needs::Tool(tool) => worker.runs(tool),
        });
        have.min_by_key(|worker| worker.is_silent)
    }

    /// Why none of them moves it on; `None` if one does.
    fn unmet(&self, needs: Needs, is_left: bool) -> Option<Unmet> {
        let lack = match self.with(&needs) {
            None if self.are_used() => Lack::Capability,
            None => Lack::Workers,
            Some(worker) if worker.is_silent => Lack::Life(worker.process.clone()),
            Some(_) if is_left => Lack::Program,
            Some(_) => return None,
        };
        Some(Unmet { needs, lack })
    }
}

impl Store {
    /// What a machine needs of a worker now, if it is for a worker to move it on.
    pub(super) async fn need_of(&self, id: Id) -> Result<Option<Need>, LoadError> {
        let Some((needs, is_left)) = self.ready_for(id, self.now()).await? else {
            return Ok(None);
        };
        let workers = self.all_workers().await?;
        let has_workers = workers.are_used();
        let unmet = if has_workers { workers.unmet(needs, is_left) } else { None };
        Ok(Some(Need { unmet, has_workers }))
    }

    async fn all_workers(&self) -> Result<Workers, LoadError> {
        let driven = self.inner.backend.driven().await?;
        Ok(Workers { live: self.workers().await?, driven })
    }

    /// The machines that are ready for this time or longer, and for which no live worker has what
    /// they need; at most this many of each kind are read. Without patience, also those whose
    /// worker has ended, but not its lease. In a store that no worker has ever driven, programs
    /// move their machines themselves: there, only calls, and none without patience.
    pub(crate) async fn undriven(
        &self,
        patience: Duration,
        limit: usize,
    ) -> Result<Vec<Undriven>, LoadError> {
        let workers = self.all_workers().await?;
        if !workers.are_used() && patience.is_zero() {
            return Ok(Vec::new());
        }
        let definitions = self.definitions().await?;
        let before = earlier(self.now(), patience);
        let ended = if patience.is_zero() { self.ended_holders().await? } else { Vec::new() };
        let is_ready = |it: &&ReadyMachine| {
            it.wake.at <= before || it.worker.as_ref().is_some_and(|worker| ended.contains(worker))
        };
        let mut ready: Vec<Id> = Vec::new();
        for kind in &workers.driven {
            let found = self.ready(std::slice::from_ref(kind), limit, ended.clone()).await?;
            ready.extend(found.iter().filter(is_ready).map(|it| it.id));
        }
        let executions = &*execution::DEFINITION.name;
        let kinds = definitions.iter().map(|definition| &*definition.name);
        let kinds = kinds.filter(|kind| workers.are_used() || *kind == executions);
        let mut never_driven: Vec<&str> =
            kinds.filter(|kind| !workers.driven.iter().any(|known| known == kind)).collect();
        never_driven.sort_unstable();
        never_driven.dedup();
        let query = Query::new().live().limit(limit).unchanged_for(patience);
        for kind in &never_driven {
            self.ready_without_worker(kind, &query, &definitions, &mut ready).await?;
        }
        if workers.are_used() && !never_driven.is_empty() {
            let queued = self.inner.backend.messages(Messages::Queued(before, limit)).await?;
            ready.extend(queued.into_iter().flatten().map(|message| message.to));
        }
        let mut found = BTreeMap::new();
        for id in ready {
            if !found.contains_key(&id)
                && let Some((needs, is_left)) = self.ready_for(id, before).await?
                && let Some(unmet) = workers.unmet(needs, is_left)
            {
                found.insert(id, Undriven { id, unmet });
            }
        }
        Ok(found.into_values().collect())
    }

    /// Machines of a kind that no worker has ever driven, in states that are left at once.
    async fn ready_without_worker(
        &self,
        kind: &str,
        query: &Query,
        definitions: &[Arc<Definition>],
        ready: &mut Vec<Id>,
    ) -> Result<(), LoadError> {
        let mut states: Vec<&str> = Vec::new();
        for definition in definitions.iter().filter(|known| known.name == kind) {
            let moves = definition.states.iter().filter(|state| !state.stable && !state.terminal);
            states.extend(moves.map(|state| state.name.as_ref()));
        }
        states.sort_unstable();
        states.dedup();
        for state in states {
            let lines = self.list(&query.clone().machine(kind).status(state)).await?.items;
            ready.extend(lines.into_iter().flatten().map(|line| line.id));
        }
        Ok(())
    }

    /// What a machine needs of a worker, if it is for a worker to move it on, and whether the live
    /// workers have left it to another program for the time of [`PATIENCE`] or longer.
    async fn ready_for(&self, id: Id, before: Millis) -> Result<Option<(Needs, bool)>, LoadError> {
        let observed = LoadError::readable(self.observed_one(id).await)?;
        // An unreadable machine is a separate concern.
        let Some(observed) = observed else { return Ok(None) };
        if observed.has_ended() {
            return Ok(None);
        }
        let (_, work, queued) = self.inner.backend.task(id).await?;
        if work.as_ref().is_some_and(Schedule::needs_requeue) {
            // It waits for a person, who may requeue it.
            return Ok(None);
        }
        let machine = observed.definition.name.to_string();
        if machine == execution::DEFINITION.name {
            let execution = LoadError::readable(self.execution_of(observed).await)?;
            let Some(execution) = execution else { return Ok(None) };
            return Ok(self.needs_tool(&execution).await.map(|needs| (needs, false)));
        }
        // A question needs a worker only once an answer has come.
        let is_due = observed.summary.due_at().is_some_and(|due_at| due_at <= before);
        if observed.is_question() && queued.is_empty() && !is_due {
            return Ok(None);
        }
        let left_at = work.and_then(|work| work.others_at);
        let is_left = left_at.is_some_and(|left_at| left_at <= earlier(self.now(), PATIENCE));
        Ok(Some((Needs::Handler(machine), is_left)))
    }

    async fn needs_tool(&self, execution: &AnyExecution) -> Option<Needs> {
        let is_ready = match execution {
            AnyExecution::Pending(_) => Release::of(execution) != Some(Release::Deferred),
            AnyExecution::Running(running) => {
                matches!(self.liveness(running).await, Ok(Liveness::Ended))
            }
            _ => false,
        };
        execution.context().action().tool_name().filter(|_| is_ready).map(Needs::Tool)
    }
}
