use std::fmt;

use tracing::Instrument;

use crate::{
    effects::{batch::item::Item, change::Change, error::EffectError, leave::Left, retry::Retry},
    id::Id,
    store::{
        backend::{Condition, NewChild, Record},
        error::CommitError,
        handle::Store,
        inbox::{
            message::Message,
            protocol::{Event, EventOutcome},
        },
        operation::Act,
    },
    stored::Durable,
    telemetry,
};

/// Writes for any mix of machines, all or nothing. Keys are released and taken in the order of the
/// calls.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Action, Contract, ToolSpec};
/// use machine::store::Store;
///
/// # pollster::block_on(async {
/// let store = Store::memory();
/// let actors = Actors::issue("assistant")?;
/// let email = ToolSpec::irreversible("email", "send")?;
/// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?;
/// let (mut gate, mut mail) = mail.ask::<Action>(None, &actors.ecs_node)?;
///
/// store.batch().create(gate.machine()).create(mail.machine()).write().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[must_use = "a batch writes nothing until `write`"]
pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) items: Vec<Item<'a>>,
    pub(super) events: Vec<(Id, Event)>,
    pub(super) children: Vec<NewChild>,
    pub(super) conditions: Vec<Condition>,
    pub(super) records: Vec<Record>,
    /// A machine that makes the calls of the state that it is in.
    pub(super) adopts: Option<&'a mut dyn Durable>,
    pub(super) acts: Vec<Act>,
    /// A handler asked for what it writes.
    pub(super) by_handler: bool,
}

/// The maximum number of tries while the executions that end with the batch keep changing.
const MAX_TRIES: usize = 32;

impl<'a> Batch<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        let (items, events) = (Vec::new(), Vec::new());
        let (children, conditions, records) = (Vec::new(), Vec::new(), Vec::new());
        let (adopts, acts, by_handler) = (None, Vec::new(), false);
        Self { store, items, events, children, conditions, records, adopts, acts, by_handler }
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

    /// Starts an execution, records the outcome of a permit, or answers a gate.
    pub fn change<B, A>(mut self, change: &'a mut Change<'_, B, A>) -> Self {
        self.items.push(Item::Change(&mut *change.0));
        self
    }

    /// Stores a new machine as the child of another one, which wakes when the child has ended. The
    /// child belongs to the [visit](macro@crate::machine#visits) in which the parent is then. If
    /// the parent ends that visit first, the child is sent a message with the trigger `cancel`.
    /// [`Store::children`] lists children. If the parent is unknown or has ended, the batch fails
    /// with [`CommitError::NotFound`] or [`EffectError::Ended`]. An execution is refused with
    /// [`EffectError::CallByHand`]: a state makes calls by
    /// [`#[invoke]`](macro@crate::machine#invocations).
    pub fn create_child(mut self, parent: Id, child: &'a mut dyn Durable) -> Self {
        let child_id = child.journal().id();
        self.children.push(NewChild { child: child_id, parent, since: None, position: None });
        self.create(child)
    }

    /// Sends a message. See [`Store::send`]; a message to a machine that has ended is set aside. If
    /// another message has the same correlation id, the batch fails with
    /// [`EffectError::OtherMessage`], and if the inbox is full, with [`EffectError::InboxFull`].
    pub fn send(mut self, to: Id, message: &Message) -> Self {
        let (message, now) = (message.0.clone(), self.store.now());
        self.events.push((to, Event::Send { message, now }));
        self
    }

    pub(crate) fn event(mut self, id: Id, event: Event) -> Self {
        self.events.push((id, event));
        self
    }

    /// Makes the calls of the state that a stored machine is in, for one that entered it before it
    /// made any.
    pub(crate) fn adopt(mut self, machine: &'a mut dyn Durable) -> Self {
        self.adopts = Some(machine);
        self
    }

    pub(crate) fn on_condition(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Writes records, new or changed. If another write of one came first, the batch fails with
    /// [`CommitError::Conflict`].
    pub(crate) fn records(mut self, records: impl IntoIterator<Item = Record>) -> Self {
        self.records.extend(records);
        self
    }

    /// A handler asked for what it writes: what its move cancels may be a mistake, and it makes no
    /// calls.
    #[cfg(feature = "worker")]
    pub(crate) fn by_handler(mut self) -> Self {
        self.by_handler = true;
        self
    }

    /// Logs the act of a person that it carries out. The caller logs a refusal, which may come
    /// earlier.
    pub(crate) fn act(mut self, act: Option<Act>) -> Self {
        self.acts.extend(act);
        self
    }

    /// Writes the batch. When this returns, all of it is durable.
    ///
    /// # Errors
    ///
    /// The errors of the operations. After an error, nothing was written, and all machines,
    /// outcomes and pending executions are unchanged.
    pub async fn write(mut self) -> Result<(), EffectError> {
        let written = self.try_write().await.map(drop);
        self.store.log_refusal(self.acts_of_changes(), written).await
    }

    /// Writes everything, also if it is not known at first whether it was written.
    pub(crate) async fn write_with(mut self, mut retry: Retry) -> Result<(), EffectError> {
        loop {
            let Err(error) = self.try_write().await else { return Ok(()) };
            if let Some(error) = retry.after(error) {
                return self.store.log_refusal(self.acts_of_changes(), Err(error)).await;
            }
        }
    }

    pub(super) fn acts_of_changes(&self) -> Vec<Act> {
        let changes = self.items.iter().filter_map(|item| item.change()?.act());
        let retries = self.items.iter().filter_map(Item::retry).map(|retry| retry.act());
        Act::merged(changes.chain(retries))
    }

    pub(crate) async fn write_events(mut self) -> Result<Vec<EventOutcome>, EffectError> {
        self.try_write().await
    }

    /// Checks whether the caller has read this machine or record, and has to read it again.
    fn is_about(&mut self, id: Id) -> bool {
        let is_version =
            |it: &Condition| matches!(it, Condition::Version { id: of, .. } if *of == id);
        self.items.iter_mut().any(|it| it.journal().id() == id)
            || self.records.iter().any(|it| it.id == id)
            || self.conditions.iter().any(is_version)
    }

    async fn try_write(&mut self) -> Result<Vec<EventOutcome>, EffectError> {
        let store = self.store;
        let known = store.inner.definitions.known();
        let left = self.items.iter_mut().filter_map(|it| Left::of(it.machine(), &known));
        let left: Vec<_> = left.collect();
        let (size, count) = (self.items.len() as u64, self.events.len() as u64);
        let span = telemetry::Commit { size, events: count }.span();
        let mut tries = 0;
        let mut result = loop {
            let result = self.write_once(&left).instrument(span.clone()).await;
            tries += 1;
            match result {
                // A call, or a gate, that was to end with the batch has moved on.
                Err(EffectError::Commit(CommitError::Conflict { id }))
                    if tries < MAX_TRIES && !self.is_about(id) => {}
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
                if item.journal().stored().commit_id.is_none() {
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
