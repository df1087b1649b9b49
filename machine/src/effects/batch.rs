use std::{collections::HashSet, fmt, sync::Arc};

use tracing::Instrument;

use crate::{
    contract::Callable,
    effects::{
        act::Act,
        begin::{Approved, Begin},
        change::Change,
        consequences::Consequences,
        decide::Decide,
        gate_state::GateState,
        leave::Left,
        retry::Retry,
        settle::Settle,
    },
    id::Id,
    journal::{Pass, Stored},
    store::{
        backend::{self, Applied, Condition, Rejected},
        error::CommitError,
        handle::Store,
        inbox::{
            message::Message,
            protocol::{Event, Outcome},
        },
        operation::Logged,
        write::prepare::Prepared,
    },
    stored::Durable,
    telemetry,
};

/// Writes for any mix of machines that happen together, or not at all. Keys are given back and taken
/// in the order of the calls.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Action, Contract, ToolSpec};
/// use machine::store::Store;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = Store::memory();
/// let actors = Actors::issue("assistant")?;
/// let email = ToolSpec::irreversible("email", "send")?;
/// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?;
/// let (mut gate, mut mail) = mail.ask::<Action>(None, &actors.ecs_node)?;
///
/// store.batch().create(gate.machine()).create(mail.machine()).write().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a batch writes nothing until `write`"]
pub struct Batch<'a> {
    store: &'a Store,
    items: Vec<Item<'a>>,
    /// Events for inboxes and leases.
    events: Vec<(Id, Event)>,
    /// Children and their parents.
    children: Vec<(Id, Id)>,
    conditions: Vec<Condition>,
    /// The operator actions to record.
    acts: Vec<Act>,
}

/// The maximum number of tries while the calls that end with the batch keep changing.
const MOST: usize = 32;

enum Item<'a> {
    Create(&'a mut dyn Durable),
    Commit(&'a mut dyn Durable),
    Change(&'a mut dyn Change),
}

impl<'a> Batch<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        let (items, events) = (Vec::new(), Vec::new());
        let (children, conditions, acts) = (Vec::new(), Vec::new(), Vec::new());
        Self { store, items, events, children, conditions, acts }
    }

    /// Stores a new machine with its whole journal. See [`Store::create`].
    pub fn create(mut self, machine: &'a mut dyn Durable) -> Self {
        self.items.push(Item::Create(machine));
        self
    }

    /// Writes what happened to a stored machine. See [`Store::commit`].
    pub fn commit(mut self, machine: &'a mut dyn Durable) -> Self {
        self.items.push(Item::Commit(machine));
        self
    }

    /// Starts an execution. See [`Store::begin`].
    pub fn begin<T: Callable>(self, begin: &'a mut Begin<'_, T>) -> Self {
        self.change(begin)
    }

    /// Records the outcome of a permit. See [`Store::settle`].
    pub fn settle(self, settle: &'a mut Settle<'_>) -> Self {
        self.change(settle)
    }

    /// Answers a gate. See [`Store::approve`].
    pub fn decide(self, decide: &'a mut Decide) -> Self {
        self.change(decide)
    }

    fn change(mut self, change: &'a mut dyn Change) -> Self {
        self.items.push(Item::Change(change));
        self
    }

    /// Stores a new machine as the child of another one, which is woken when the child has ended. When
    /// the parent ends first, its children are sent a message with the trigger `cancel`.
    /// [`Store::children`] lists them. A parent that is unknown or has ended gets no children: then the
    /// batch fails with [`CommitError::NotFound`] or [`CommitError::Ended`].
    pub fn create_child(mut self, parent: Id, child: &'a mut dyn Durable) -> Self {
        self.children.push((child.journal().id(), parent));
        self.create(child)
    }

    /// Sends a message. See [`Store::send`]; a message to a machine that has ended is set aside. If another
    /// message has its correlation id, the batch fails with [`CommitError::OtherMessage`].
    pub fn send(mut self, to: Id, message: &Message) -> Self {
        let (message, now) = (message.0.clone(), self.store.now());
        self.events.push((to, Event::Send { message, now }));
        self
    }

    /// Does what the holder of a lease does.
    pub(crate) fn event(mut self, id: Id, event: Event) -> Self {
        self.events.push((id, event));
        self
    }

    /// Writes nothing unless this holds then.
    pub(crate) fn on_condition(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Logs what a person does by it.
    pub(crate) fn act(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }

    /// Writes everything. When this returns, all of it is durable.
    ///
    /// # Errors
    ///
    /// The errors of the operations. Then nothing was written, and all machines, outcomes and
    /// pending executions are as they were.
    pub async fn write(mut self) -> Result<(), CommitError> {
        let written = self.try_write().await;
        self.logged(written).await.map(drop)
    }

    /// Writes everything, also if it is not known at first whether it was written.
    pub(crate) async fn write_with(mut self, mut retry: Retry) -> Result<(), CommitError> {
        loop {
            let Err(error) = self.try_write().await else { return Ok(()) };
            if let Some(error) = retry.after(error) {
                return self.logged(Err(error)).await;
            }
        }
    }

    /// Logs the acts that were refused.
    async fn logged<T>(&mut self, written: Result<T, CommitError>) -> Result<T, CommitError> {
        let (store, acts) = (self.store, self.all_acts());
        if let Err(error) = &written {
            store.refuse_all(acts, error).await;
        }
        written
    }

    fn all_acts(&self) -> Vec<Act> {
        Act::merged(self.acts.iter().cloned().chain(self.items.iter().filter_map(Item::act)))
    }

    /// Writes everything, and returns the outcome of each event. The caller logs a refusal.
    pub(crate) async fn write_events(mut self) -> Result<Vec<Outcome>, CommitError> {
        self.try_write().await
    }

    async fn try_write(&mut self) -> Result<Vec<Outcome>, CommitError> {
        let store = self.store;
        let left: Vec<_> = self.items.iter_mut().filter_map(|it| Left::of(it.machine())).collect();
        let (size, count) = (self.items.len() as u64, self.events.len() as u64);
        let span = telemetry::Commit { size, events: count }.span();
        let mut tries = 0;
        let mut result = loop {
            let result = self.write_once(&left).instrument(span.clone()).await;
            tries += 1;
            match result {
                // A call that was to end with the batch has moved on, or another one was added.
                Err(CommitError::Conflict { id })
                    if tries < MOST && self.items.iter_mut().all(|it| journal(it).id() != id) => {}
                result => break result,
            }
        };
        if let Err(mut error) = result {
            for item in &mut self.items {
                if let Item::Change(change) = item {
                    error = change.explain(store, error).await;
                }
            }
            telemetry::failed(&span, error.class());
            for item in &mut self.items {
                // With the id of a commit, the same batch, tried again, finds out.
                if journal(item).stored().commit_id.is_none() {
                    item.discard();
                }
            }
            result = Err(error);
        }
        result
    }
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("len", &self.items.len()).finish_non_exhaustive()
    }
}

impl Item<'_> {
    fn machine(&mut self) -> &mut dyn Durable {
        match self {
            Self::Create(machine) | Self::Commit(machine) => *machine,
            Self::Change(change) => change.machine(),
        }
    }

    fn approval(&self) -> Option<(Id, Approved)> {
        match self {
            Self::Change(change) => change.approval(),
            Self::Create(_) | Self::Commit(_) => None,
        }
    }

    fn condition(&self) -> Option<Condition> {
        match self {
            Self::Change(change) => change.condition(),
            Self::Create(_) | Self::Commit(_) => None,
        }
    }

    fn gate(&self) -> Option<GateState> {
        match self {
            Self::Change(change) => change.gate(),
            Self::Create(_) | Self::Commit(_) => None,
        }
    }

    fn act(&self) -> Option<Act> {
        match self {
            Self::Change(change) => change.act(),
            Self::Create(_) | Self::Commit(_) => None,
        }
    }

    fn discard(&mut self) {
        match self {
            Self::Change(change) => change.discard(),
            Self::Create(_) | Self::Commit(_) => journal(self).forget_times(),
        }
    }
}

impl Batch<'_> {
    /// Moves the copies of the changes that have none yet.
    async fn prepare_changes(&mut self) -> Result<(), CommitError> {
        let approved: Vec<_> = self.items.iter().filter_map(Item::approval).collect();
        for item in &mut self.items {
            if let Item::Change(change) = item {
                change.prepare(self.store, &approved).await?;
            }
        }
        Ok(())
    }

    async fn write_once(&mut self, left: &[Left]) -> Result<Vec<Outcome>, CommitError> {
        self.prepare_changes().await?;
        let acts = self.all_acts().into_iter();
        let log = acts.map(|act| Logged::New(self.store.line(act, Some("done".to_owned()))));
        let log = log.collect();
        let Self { store, items, events, children, conditions, .. } = self;
        let store: &Store = store;
        let commit_id = commit_id(items);
        let mut prepared = Vec::with_capacity(items.len());
        // The positions of the items that have something to write.
        let mut positions = Vec::with_capacity(items.len());
        for (position, item) in items.iter_mut().enumerate() {
            let creates = matches!(item, Item::Create(_));
            if let Some(ready) = store.prepare(item.machine(), creates, commit_id)? {
                prepared.push(ready);
                positions.push(position);
            }
        }
        if prepared.is_empty() && events.is_empty() {
            return Ok(Vec::new());
        }
        no_machine_twice(&prepared)?;
        let Consequences { ended, conditions: mut required, yielding } =
            store.consequences(left, &mut prepared, commit_id).await?;
        required.extend(conditions.iter().cloned());
        required.extend(items.iter().filter_map(Item::condition));
        let gates: Vec<_> = items.iter().map(Item::gate).collect();
        for (position, ready) in prepared.iter().enumerate() {
            // The machines that were added come after those of the items.
            let known = positions.get(position).and_then(|item| gates[*item].clone());
            if let Some((gate, at)) = store.gate_is_open(ready, &prepared, known).await? {
                let (id, clock) = (ready.write.row.id, Arc::clone(&store.inner.clock));
                required.push(Condition::Approved { id, gate, at, clock });
            }
            store.joins_parent(ready, children).await?;
            store.trust_plan(ready).await?;
        }
        let mut batch = backend::Batch {
            events: events.clone(),
            children: children.clone(),
            conditions: required,
            yielding,
            log,
            ..backend::Batch::new(commit_id, store.now())
        };
        let sent = telemetry::sent(&batch.events);
        let stored = fill(&mut batch, prepared);
        // If the future is dropped from here on, nothing is known of the batch. The machine
        // remembers the id of the commit, so that the same commit can be recognized later.
        let mut before = Vec::with_capacity(positions.len());
        for position in &positions {
            let journal = journal(&mut items[*position]);
            before.push(journal.stored().commit_id);
            journal.set_commit_id(Some(commit_id));
        }
        match store.inner.backend.apply(batch).await {
            Ok(Ok(Applied { last, outcomes, .. })) => {
                for ((position, stored), last) in positions.iter().zip(stored).zip(last) {
                    let item = &mut items[*position];
                    telemetry::committed(item.machine());
                    journal(item).mark_stored(stored);
                    if let Item::Change(change) = item {
                        change.committed(store, last);
                    }
                }
                for call in &ended {
                    telemetry::committed(call);
                }
                telemetry::sent_with(&sent, &outcomes);
                Ok(outcomes)
            }
            // An earlier try created it, its answer was lost, and it has moved on since.
            Ok(Err(Rejected::AlreadyStored(id)))
                if store.is_created_by(id, &positions, &stored, &before, items).await? =>
            {
                for (position, stored) in positions.iter().zip(stored) {
                    telemetry::committed(items[*position].machine());
                    journal(&mut items[*position]).mark_stored(stored);
                }
                Ok(Vec::new())
            }
            Ok(Err(rejected)) => {
                for position in &positions {
                    journal(&mut items[*position]).set_commit_id(None);
                }
                Err(rejected.into())
            }
            // An error leaves open what was open before.
            Err(error) if error.is_indeterminate() => Err(error.into()),
            Err(error) => {
                for (position, before) in positions.iter().zip(before) {
                    journal(&mut items[*position]).set_commit_id(before);
                }
                Err(error.into())
            }
        }
    }
}

/// Adds what was prepared. Returns what is on disk after the batch.
fn fill(batch: &mut backend::Batch, prepared: Vec<Prepared>) -> Vec<Stored> {
    let mut stored = Vec::with_capacity(prepared.len());
    for ready in prepared {
        for definition in ready.definitions {
            let mut known = batch.definitions.iter();
            if !known.any(|known| known.fingerprint == definition.fingerprint) {
                batch.definitions.push(definition);
            }
        }
        batch.writes.push(ready.write);
        stored.push(ready.stored);
    }
    stored
}

fn journal<'a>(item: &'a mut Item<'_>) -> &'a mut crate::journal::Journal {
    item.machine().__journal_mut(Pass::new())
}

/// The id of an earlier attempt at the same batch whose outcome is unknown; otherwise a new one.
fn commit_id(items: &mut [Item<'_>]) -> i64 {
    let journals = items.iter_mut().map(|item| &*journal(item));
    let mut earlier = journals
        .filter(|journal| !journal.uncommitted().is_empty())
        .map(|journal| journal.stored().commit_id);
    let first = earlier.next().flatten();
    match first {
        Some(id) if earlier.all(|other| other == Some(id)) => id,
        _ => i64::from_le_bytes(Id::random_bytes()),
    }
}

fn no_machine_twice(prepared: &[Prepared]) -> Result<(), CommitError> {
    if prepared.len() < 2 {
        return Ok(());
    }
    let mut seen = HashSet::with_capacity(prepared.len());
    for ready in prepared {
        let id = ready.write.row.id;
        if !seen.insert(id) {
            return Err(CommitError::Twice { id });
        }
    }
    Ok(())
}

impl Store {
    /// Returns whether an earlier try of a batch that only creates machines has created this one: its
    /// first entries are in the store.
    async fn is_created_by(
        &self,
        id: Id,
        positions: &[usize],
        stored: &[Stored],
        before: &[Option<i64>],
        items: &mut [Item<'_>],
    ) -> Result<bool, CommitError> {
        let only_creates =
            positions.iter().all(|position| matches!(items[*position], Item::Create(_)));
        let mut all = positions.iter().zip(stored).zip(before);
        let Some(((_, stored), Some(_))) =
            all.find(|((position, _), _)| journal(&mut items[**position]).id() == id)
        else {
            return Ok(false);
        };
        let newest = stored.version.saturating_sub(1);
        let lines = self.inner.backend.history(id, newest, 1).await?;
        let line = lines.ok().and_then(|mut lines| lines.pop());
        Ok(only_creates && line.is_some_and(|line| line.digest == stored.head))
    }
}
