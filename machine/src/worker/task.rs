use std::{
    any::Any,
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::{lease::HeldLease, own_calls::OwnCalls, shared::Shared};
use crate::{
    actor::Actors,
    contract::{AnyExecution, Callable, Outcome, outcome},
    effects::Batch,
    id::Id,
    journal::Journal,
    store::{
        LoadError, Message, Store,
        backend::{Condition, Record},
        inbox::protocol::{Event, MovedBy},
        lock::lock,
    },
    stored::{Durable, Restore},
};

/// The context of a handler: the machine that it works on, and the writes to commit together with
/// its transition.
///
/// Pass `&Task` to helpers that only read; it can be held across an `.await`. A handler that needs
/// [`actors`](Self::actors) and adds writes clones the actors.
pub struct Task {
    shared: Arc<Shared>,
    lease: Arc<HeldLease>,
    /// The version of the machine that the handler has seen.
    version: u64,
    /// The number of the entry with which it came into its state.
    entered: u64,
    created: Machines,
    children: Machines,
    messages: Vec<(Id, Message)>,
    records: Vec<Record>,
    /// Machines that have news.
    woken: Vec<Id>,
    /// The correlation ids of messages that the handler has dealt with.
    taken: Vec<String>,
    is_handed_back: bool,
    is_takeover: bool,
    /// Another worker had the lease before, and has not given it back: it may still be at work.
    /// After the first transition it is over.
    pub(crate) taken_over: bool,
    /// The number of this attempt, and of the last one.
    pub(super) attempt: (u32, u32),
    /// The outcomes of the calls of the state, once all have one.
    pub(super) outcomes: Option<Vec<TaskOutcome>>,
    pub(super) kept: Option<Kept>,
}

/// A value of the handler for its next call.
pub(super) type Kept = Box<dyn Any + Send + Sync>;

/// New machines. They cannot be shared between threads, and a task can: nothing ever waits for this
/// lock.
#[derive(Default)]
struct Machines(Mutex<Vec<Box<dyn Durable>>>);

impl Machines {
    fn get_mut(&mut self) -> &mut Vec<Box<dyn Durable>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

#[derive(Debug)]
pub(super) enum TaskOutcome {
    Execution(Box<AnyExecution>),
    /// It needed no execution: why there is no receipt, as JSON.
    Error(Value),
}

impl TaskOutcome {
    fn read<T: Callable>(&self) -> serde_json::Result<Option<Outcome<T>>> {
        match self {
            Self::Execution(execution) => outcome::<T>(execution),
            Self::Error(error) => {
                serde_json::from_value(error.clone()).map(|error| Some(Err(error)))
            }
        }
    }
}

impl Task {
    pub(super) fn new(
        shared: &Arc<Shared>,
        lease: &Arc<HeldLease>,
        journal: &Journal,
        taken_over: bool,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            lease: Arc::clone(lease),
            version: journal.version(),
            entered: journal.past().entered,
            created: Machines::default(),
            children: Machines::default(),
            messages: Vec::new(),
            records: Vec::new(),
            woken: Vec::new(),
            taken: Vec::new(),
            is_handed_back: false,
            is_takeover: false,
            taken_over,
            attempt: (1, 1),
            outcomes: None,
            kept: None,
        }
    }

    /// The store, for reading. Writes through it take effect at once, whether or not the transition
    /// is written.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The actors of the worker.
    #[must_use]
    pub fn actors(&self) -> &Actors {
        &self.shared.actors
    }

    /// The machine.
    #[must_use]
    pub fn id(&self) -> Id {
        self.lease.id
    }

    /// Creates a machine, in the batch of the transition. Executions are refused: a state makes
    /// calls by [`#[invoke]`](macro@crate::machine#invocations).
    pub fn create(&mut self, machine: impl Durable + 'static) {
        self.created.get_mut().push(Box::new(machine));
    }

    /// Creates a child: a machine that this one waits for, in the batch of the transition. When it
    /// ends, the handler of this machine is called. When this machine ends the
    /// [visit](macro@crate::machine#visits) first, the child gets a message with the trigger
    /// `cancel`.
    pub fn child(&mut self, machine: impl Durable + 'static) {
        self.children.get_mut().push(Box::new(machine));
    }

    /// Sends a message, in the batch of the transition. A handler that sends messages to its own
    /// machine and waits, 100 consecutive times without a transition, is set aside. If the inbox of
    /// the receiver is full, the attempt fails with
    /// [`EffectError::InboxFull`](crate::effects::EffectError::InboxFull), and is repeated later.
    pub fn send(&mut self, to: Id, message: Message) {
        self.messages.push((to, message));
    }

    /// The calls of this tool that the machine made with its newest entry into its state, in order
    /// of position. [`of_session`](OwnCalls::of_session) returns the calls of a session instead,
    /// and [`all`](OwnCalls::all) the calls of the machine's whole life. For
    /// [`Action`](crate::contract::Action), returns the calls of all tools.
    #[must_use = "it is read when it is awaited"]
    pub fn calls<T: Callable>(&self) -> OwnCalls<T> {
        OwnCalls::new(self.store().clone(), self.id(), self.entered)
    }

    /// The child machines of this kind that belong to the [visit](macro@crate::machine#visits),
    /// oldest first. Join them when all have ended. [`Store::children`] lists the children of the
    /// machine's whole life.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the storage, or a child, cannot be read now.
    // Not an `async fn`: its future borrows nothing, so that writes can be added while it is there.
    pub fn children<M: Restore + Send>(
        &self,
    ) -> impl Future<Output = Result<Vec<M>, LoadError>> + Send + use<M> {
        let (store, id, entered) = (self.store().clone(), self.id(), self.entered);
        async move {
            let all = store.children(id).await?.into_iter();
            let own = all.filter(|it| it.since > entered && it.machine == M::DEFINITION.name);
            let own: Vec<Id> = own.map(|child| child.id).collect();
            let mut children = Vec::with_capacity(own.len());
            for id in own {
                children.push(store.load(id).await?);
            }
            Ok(children)
        }
    }

    /// The outcome of the call that the state makes by `#[invoke]`, if its table names no triggers
    /// for it; `None` until the call has ended. The transition that the handler returns takes the
    /// outcome; without a transition, the handler gets it again.
    ///
    /// This is for a [`Handler`](super::Handler): a
    /// [method of the state](macro@crate::machine#handlers) is called with the outcome.
    ///
    /// # Errors
    ///
    /// The error of `serde_json`, if the receipt or the refusal is of another type.
    pub fn outcome<T: Callable>(&self) -> serde_json::Result<Option<Outcome<T>>> {
        Ok(self.outcomes::<T>()?.and_then(|mut all| all.pop()))
    }

    /// The outcomes of the set of calls that the state makes by `#[invoke]`, in its order, if its
    /// table names no triggers for them; `None` until all calls have ended.
    ///
    /// # Errors
    ///
    /// See [`outcome`](Self::outcome).
    pub fn outcomes<T: Callable>(&self) -> serde_json::Result<Option<Vec<Outcome<T>>>> {
        let Some(outcomes) = &self.outcomes else { return Ok(None) };
        let read = outcomes.iter().filter_map(|outcome| outcome.read::<T>().transpose());
        read.collect::<serde_json::Result<_>>().map(Some)
    }

    /// Returns whether the worker still holds the lease. Without the lease, nothing of this task
    /// will be written, so a long-running handler can check this and stop early. The worker stops
    /// it at its next `.await` anyway.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.lease.is_valid(self.store())
    }

    /// Returns whether the worker was asked to stop, so that it begins no call.
    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.is_stopping()
    }

    pub(crate) fn add_records(&mut self, records: Vec<Record>) {
        self.records.extend(records);
    }

    /// Has the worker of another machine call its handler, in the batch of the transition.
    pub(crate) fn wake(&mut self, id: Id) {
        self.woken.push(id);
    }

    /// Gives the machine back after the transition: what comes next reads its inbox first.
    pub(crate) fn hand_back(&mut self) {
        self.is_handed_back = true;
    }

    pub(super) fn is_handed_back(&self) -> bool {
        self.is_handed_back
    }

    /// The transition only takes over from another worker: it does not begin the attempts anew.
    pub(crate) fn keep_attempts(&mut self) {
        self.is_takeover = true;
    }

    pub(super) fn moved_by(&self) -> MovedBy {
        if self.is_takeover { MovedBy::Takeover } else { MovedBy::Handler }
    }

    /// Acknowledges a message, in the batch of the transition, if it is queued.
    pub(crate) fn take(&mut self, message: String) {
        self.taken.push(message);
    }

    pub(super) fn taken(&mut self) -> Vec<String> {
        std::mem::take(&mut self.taken)
    }

    /// Keeps a value for the next call of the handler for this machine by the same worker, unless
    /// the transition that it returns is written.
    pub(crate) fn keep(&mut self, value: impl Any + Send + Sync) {
        self.kept = Some(Box::new(value));
    }

    /// Takes the value that the call before has kept, if it is of this type.
    pub(crate) fn take_kept<T: Any>(&mut self) -> Option<T> {
        self.kept.take()?.downcast().ok().map(|value| *value)
    }

    /// Returns whether this is the last attempt, and not the first.
    pub(crate) fn is_last_attempt(&self) -> bool {
        let (attempt, last) = self.attempt;
        attempt > 1 && attempt >= last
    }

    /// Adds everything to a batch, which is about the machine that the handler has seen and no
    /// later one.
    pub(super) fn write<'a>(&'a mut self, batch: Batch<'a>) -> Batch<'a> {
        if self.is_empty() {
            return batch.by_handler();
        }
        let id = self.lease.id;
        let condition = Condition::Version { id, version: self.version };
        let mut batch = batch.by_handler().on_condition(condition);
        for machine in self.created.get_mut() {
            batch = batch.create(&mut **machine);
        }
        for child in self.children.get_mut() {
            batch = batch.create_child(id, &mut **child);
        }
        for (to, message) in &self.messages {
            batch = batch.send(*to, message);
        }
        for woken in &self.woken {
            batch =
                batch.event(*woken, Event::Notify { moved: false, now: self.shared.store.now() });
        }
        batch.records(self.records.iter().cloned())
    }

    pub(super) fn has_record(&self, id: Id) -> bool {
        self.records.iter().any(|record| record.id == id)
    }

    /// Returns whether it sends messages to the machine that it works on.
    pub(super) fn sends_itself(&self) -> bool {
        self.messages.iter().any(|(to, _)| *to == self.lease.id)
    }

    pub(super) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        let is_alone = self.created.is_empty() && self.children.is_empty();
        let is_silent = self.messages.is_empty() && self.woken.is_empty();
        is_alone && is_silent && self.records.is_empty()
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id()).finish_non_exhaustive()
    }
}
