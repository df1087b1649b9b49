use std::{
    collections::BTreeSet,
    fmt, hint,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{Coverage, TestClock};
use crate::{
    actor::{Actor, Actors, Human},
    id::Id,
    observe::{Concern, ConcernReason, Detail, Observer, WaitingFor},
    store::{Cause, Delivery, Message, OpenOptions, Query, Store, lock::lock},
    stored::{Durable, Restore},
    view::{ConsequenceView, Internal, Label, Snapshot, TimelineEvent, View},
    worker::Worker,
};

type Configure = dyn Fn(Worker) -> Worker + Send + Sync;

/// A worker on a store in memory, in virtual time. See [the module](super) for an example.
///
/// Its methods panic where a program would handle an error, with a message for the reader of the
/// failed test.
pub struct TestEnvironment {
    store: Store,
    configure: Box<Configure>,
    failures: Arc<Mutex<Vec<String>>>,
    /// The kinds of machines, with the labels of their states and the triggers refused in them.
    refused: Mutex<BTreeSet<(String, String, String)>>,
}

impl TestEnvironment {
    /// An environment whose worker has the handlers and tools that `configure` gives it. A new
    /// worker is made for each run, as after a deployment.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its timer enabled.
    #[must_use]
    pub fn new(configure: impl Fn(Worker) -> Worker + Send + Sync + 'static) -> Self {
        let store = OpenOptions::new().clock(TestClock::start()).memory();
        let (failures, refused) = Default::default();
        Self { store, configure: Box::new(configure), failures, refused }
    }

    /// The store, for everything that this type has no method for.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Views of the machines.
    #[must_use]
    pub fn observer(&self) -> Observer {
        Observer::new(&self.store)
    }

    /// A person with this name.
    ///
    /// # Panics
    ///
    /// If the name is not valid.
    #[must_use]
    pub fn person(&self, name: &str) -> Human {
        Human::new(name).unwrap_or_else(|error| panic!("{name:?} is not a name: {error}"))
    }

    /// Stores a new machine.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub async fn create(&self, mut machine: impl Durable) -> Id {
        let created = self.store.create(&mut machine).await;
        created.unwrap_or_else(|error| panic!("the machine is not stored: {error}"));
        machine.journal().id()
    }

    /// Loads a machine.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub async fn load<M: Restore>(&self, id: Id) -> M {
        let loaded = self.store.load(id).await;
        loaded.unwrap_or_else(|error| panic!("{id} does not load: {error}"))
    }

    /// Sends an event to a machine, such as `order::Event::Confirm { .. }`, and runs until nothing
    /// is ready.
    ///
    /// # Panics
    ///
    /// If the message is refused. One that the state does not take stays in the inbox; see
    /// [`failures`](Self::failures).
    pub async fn send<A: Actor>(&self, to: Id, event: &impl Serialize, by: &A) {
        let message = Message::new(event, by);
        let message = message.unwrap_or_else(|error| panic!("no message: {error}"));
        let sent = self.store.send(to, &message).await;
        sent.unwrap_or_else(|error| panic!("the message to {to} is refused: {error}"));
        run(self.worker()).await;
        self.note_refused(to, Some(message.correlation())).await;
    }

    /// Lets time pass. What becomes due runs with the next [`run_until_idle`](Self::run_until_idle)
    /// or [`step`](Self::step); calls that are in flight go on at once.
    ///
    /// # Panics
    ///
    /// If the runtime is not paused: `#[tokio::test(start_paused = true)]`.
    pub async fn advance(&self, time: Duration) {
        assert!(
            is_paused(),
            "the time of this runtime is not paused; write `#[tokio::test(start_paused = true)]`"
        );
        tokio::time::advance(time).await;
        // Everything that became due has its turn.
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    }

    /// Runs the worker until nothing is ready: what waits for a message, for a deadline, or for
    /// another attempt, is left. Time jumps while a call is in flight. Returns the machines that
    /// nothing can move: their handlers wait in states that are not `#[stable]`, without an open
    /// call or child, a deadline, a message, or a move for a person.
    ///
    /// # Panics
    ///
    /// If the worker does not start, or is not idle after a day of virtual time. A handler that
    /// makes calls without end while no time passes is not noticed: the test does not end.
    pub async fn run_until_idle(&self) -> Vec<Id> {
        run(self.worker()).await;
        let stuck = self.store.stuck(Duration::ZERO, usize::MAX).await;
        let stuck = stuck.unwrap_or_else(|error| panic!("{error}"));
        stuck.into_iter().map(|(id, _)| id).collect()
    }

    /// Runs the worker until one machine has made a transition. Returns `false` if none can.
    ///
    /// # Panics
    ///
    /// If the worker does not start, or the store cannot be read.
    pub async fn step(&self) -> bool {
        let position =
            async || self.store.position().await.unwrap_or_else(|error| panic!("{error}"));
        let before = position().await;
        run(self.worker().single_step()).await;
        position().await != before
    }

    /// The failed attempts of handlers, deadlines and messages so far, with their errors, oldest
    /// first; the machines that nothing could move for a minute; and the tools of calls that the
    /// worker does not have.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        lock(&self.failures).clone()
    }

    /// The view of an execution that a model has.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub async fn consequence(&self, execution: Id) -> View<ConsequenceView> {
        ConsequenceView::of(&self.load(execution).await)
    }

    /// Checks the label of an execution.
    ///
    /// # Panics
    ///
    /// If it has another one, with its whole timeline.
    pub async fn assert_label(&self, execution: Id, expected: Label) {
        let view = self.consequence(execution).await;
        if view.consequence_label != expected {
            let story = self.story(execution).await;
            panic!("{execution} is {}, not {expected}:\n{view}\n{story}", view.consequence_label);
        }
    }

    /// Checks what a machine waits for: `None` if it is to have ended.
    ///
    /// Between the runs of the environment no worker is alive, so a machine whose handler is to be
    /// called again waits for [`NoWorker`](WaitingFor::NoWorker).
    ///
    /// # Panics
    ///
    /// If it waits for something else, with its transitions.
    pub async fn assert_waits_for(&self, id: Id, expected: impl Into<Option<WaitingFor>>) {
        let expected = expected.into();
        let waits_for = self.detail(id).await.waits_for.clone();
        if waits_for.as_ref().map(|waiting| waiting.cause) != expected {
            let text = waits_for.map_or_else(|| "nothing: it has ended".to_owned(), |it| it.text);
            let story = self.story(id).await;
            panic!("{id} waits for {text}; expected: {expected:?}\n{story}");
        }
    }

    /// Checks which machines need attention, and why, in any order.
    ///
    /// # Panics
    ///
    /// If others do, with a line for each.
    pub async fn assert_attention(&self, expected: &[(Id, ConcernReason)]) {
        let attention = self.observer().attention::<Internal>(&Query::new()).await;
        let attention = attention.unwrap_or_else(|error| panic!("{error}"));
        let concerns = attention.concerns.iter();
        let line = |it: &Concern<Internal>| format!("{}: {}", it.reason, it.summary);
        let lines: Vec<_> = concerns.clone().map(line).collect();
        let found: BTreeSet<_> = concerns.filter_map(|it| Some((it.id?, it.reason))).collect();
        let expected: BTreeSet<_> = expected.iter().copied().collect();
        assert_eq!(found, expected, "what needs attention:\n{}", lines.join("\n"));
    }

    /// The transitions of a machine, one on each line: for the message of a failed test.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub async fn story(&self, id: Id) -> String {
        let timeline = self.observer().timeline::<Internal>(id).await;
        let timeline = timeline.unwrap_or_else(|error| panic!("{id} has no timeline: {error}"));
        let line = |event: &TimelineEvent<Internal>| format!("{:>4} {}", event.number, event.text);
        let lines: Vec<_> = timeline.events.iter().map(line).collect();
        lines.join("\n") + "\n"
    }

    /// Adds what the machines in the store have reached so far, and the events that they have
    /// refused: those that [`send`](Self::send) has sent, and those that wait now for a state that
    /// takes them.
    ///
    /// # Panics
    ///
    /// If one of them cannot be read.
    pub async fn cover(&self, coverage: &mut Coverage) {
        let mut query = Query::new().machine(coverage.name());
        loop {
            let page = self.store.list(&query).await.unwrap_or_else(|error| panic!("{error}"));
            for line in page.items {
                let id = line.unwrap_or_else(|error| panic!("{error}")).id;
                let history = self.store.history(id).await;
                coverage.add_history(&history.unwrap_or_else(|error| panic!("{error}")));
                self.note_refused(id, None).await;
            }
            let Some(next) = page.next else { break };
            query = query.after(next);
        }
        for (machine, state, trigger) in &*lock(&self.refused) {
            if machine == coverage.name() {
                coverage.add_refused(state, trigger);
            }
        }
    }

    /// Keeps which events this machine refuses in its state: a message that was just sent, and
    /// those that wait for another state.
    async fn note_refused(&self, id: Id, sent: Option<&str>) {
        let inbox = self.store.inbox(id).await.unwrap_or_else(|error| panic!("{error}"));
        let detail = self.detail(id).await;
        for (message, view) in inbox.iter().zip(&detail.messages) {
            let (Ok(message), Some(trigger)) = (message, &view.trigger) else { continue };
            let is_refused = match (message.status, message.cause) {
                // One that waits for a call is taken after it.
                (Delivery::Queued, Some(Cause::NotTaken)) => view.waits_for.is_none(),
                (Delivery::SetAside, Some(Cause::NotValid)) => {
                    sent == Some(message.correlation.as_str())
                }
                _ => false,
            };
            if is_refused {
                let Snapshot { machine, label, .. } = &detail.machine;
                let refused = (machine.clone(), label.clone(), trigger.clone());
                lock(&self.refused).insert(refused);
            }
        }
    }

    async fn detail(&self, id: Id) -> View<Detail<Internal>> {
        let detail = self.observer().detail::<Internal>(id).await;
        detail.unwrap_or_else(|error| panic!("{id} has no view: {error}"))
    }

    fn worker(&self) -> Worker {
        let actors = Actors::issue("test").unwrap_or_else(|error| panic!("{error}"));
        let failures = Arc::clone(&self.failures);
        let worker = Worker::new(&self.store, actors).on_error(move |failed| {
            lock(&failures).push(failed.to_string());
        });
        (self.configure)(worker)
    }
}

/// Returns whether the time of the runtime stands still. Tokio panics if it is asked.
fn is_paused() -> bool {
    let (virtual_time, time) = (tokio::time::Instant::now(), Instant::now());
    while time.elapsed().is_zero() {
        hint::spin_loop();
    }
    tokio::time::Instant::now() == virtual_time
}

async fn run(worker: Worker) {
    let run = tokio::time::timeout(NEVER_IDLE, worker.run_until_idle()).await;
    let run = run.unwrap_or_else(|_| panic!("not idle after {NEVER_IDLE:?} of virtual time"));
    run.unwrap_or_else(|error| panic!("the worker does not run: {error}"));
}

/// Turns of the runtime after time has passed: enough for every task that woke up.
const TURNS: usize = 64;

/// The virtual time after which a worker that is never idle fails the test.
const NEVER_IDLE: Duration = Duration::from_hours(24);

impl fmt::Debug for TestEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestEnvironment").field("store", &self.store).finish_non_exhaustive()
    }
}
