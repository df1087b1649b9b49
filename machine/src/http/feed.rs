//! What subscribers are told, read from the journal once for all of them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use event_listener::Event;
use futures_util::future::{Either, select};
use serde::Serialize;

use crate::{
    actor::Category,
    clock::Millis,
    contract::{AnyExecution, execution},
    definition::StateDef,
    id::Id,
    journal::Fact,
    store::{Committed, LoadError, Position, Store, Subscription},
    view::Language,
};

/// How many changes are kept for subscribers that keep up. Slower ones read the journal.
const KEPT: usize = 1024;

/// How many machines are remembered.
const SUBJECTS: usize = 4096;

/// How long to wait before a journal that could not be read is read again.
const AGAIN: Duration = Duration::from_millis(200);

/// A transition of an execution (OB-12).
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
    /// The action is irreversible, and took effect.
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

/// The names of the events.
pub(super) const EVENTS: [&str; 3] = ["execution_state", "machine_state", "changed"];

/// A journal entry, as subscribers see it.
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

/// The changes of a store.
pub(super) struct Feed {
    store: Store,
    language: Language,
    ring: Mutex<Ring>,
    /// Notified when the ring grows, and when the feed is closed.
    grown: Event,
    subscribers: AtomicUsize,
    /// Notified when the last subscriber has left.
    left: Event,
    closed: AtomicBool,
    subjects: Mutex<HashMap<Id, Arc<Subject>>>,
}

/// The newest changes.
#[derive(Default)]
struct Ring {
    changes: VecDeque<Arc<Change>>,
    /// Every change after this position is in the ring, or will be; `None` while nobody reads.
    start: Option<Position>,
}

/// What the ring has after a position.
enum Known {
    Change(Arc<Change>),
    /// Nothing yet.
    Newest,
    /// The journal has it.
    Unknown,
}

/// What does not change about a machine.
struct Subject {
    summary: String,
    is_irreversible: bool,
    session: Option<String>,
}

/// A place in the changes of a store.
pub(super) struct Reader {
    feed: Arc<Feed>,
    after: Position,
    /// The journal, while the ring does not have what comes next.
    behind: Option<Subscription>,
    /// What was read from the journal, and not yet returned.
    read: Option<Committed>,
}

impl Feed {
    pub(super) fn new(store: &Store, language: Language) -> Arc<Self> {
        Arc::new(Self {
            store: store.clone(),
            language,
            ring: Mutex::default(),
            grown: Event::new(),
            subscribers: AtomicUsize::new(0),
            left: Event::new(),
            closed: AtomicBool::new(false),
            subjects: Mutex::default(),
        })
    }

    /// The changes after a position; without one, those from now on.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        after: Option<Position>,
    ) -> Result<Reader, LoadError> {
        let after = match after {
            Some(after) => after,
            None => self.store.position().await?,
        };
        // It also says whether the store has the position.
        let behind = Some(self.store.subscribe(Some(after)).await?);
        self.subscribers.fetch_add(1, Ordering::SeqCst);
        let reader = Reader { feed: Arc::clone(self), after, behind, read: None };
        let newest = self.store.position().await?;
        let mut ring = self.ring();
        if ring.start.is_none() {
            *ring = Ring { changes: VecDeque::new(), start: Some(newest) };
            tokio::spawn(tail(Arc::clone(self), newest));
        }
        drop(ring);
        Ok(reader)
    }

    /// Ends all streams: the server stops.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.grown.notify(usize::MAX);
        self.left.notify(usize::MAX);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Waits until the feed is closed.
    async fn ended(&self) {
        loop {
            let closed = self.grown.listen();
            if self.is_closed() {
                return;
            }
            closed.await;
        }
    }

    /// Whether somebody reads.
    fn is_wanted(&self) -> bool {
        self.subscribers.load(Ordering::SeqCst) > 0 && !self.is_closed()
    }

    /// What comes after a position.
    fn after(&self, position: Position) -> Known {
        let ring = self.ring();
        if ring.start.is_none_or(|start| start > position) {
            return Known::Unknown;
        }
        let at = ring.changes.partition_point(|change| change.position <= position);
        ring.changes.get(at).map_or(Known::Newest, |change| Known::Change(Arc::clone(change)))
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Poisoning is harmless: each change of the ring is one step.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the journal into the ring, as long as somebody wants it.
async fn tail(feed: Arc<Feed>, from: Position) {
    let mut after = from;
    loop {
        // The position was the newest one; if the file lost it since, subscribers are told when they read.
        let mut entries = match feed.store.subscribe(Some(after)).await {
            Ok(entries) => entries,
            Err(LoadError::Unavailable(error)) if !error.is_stopped() && feed.is_wanted() => {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            Err(_) => break,
        };
        while let Some(next) = next(&feed, &mut entries).await {
            match next {
                Ok(change) => {
                    after = change.position;
                    let mut ring = feed.ring();
                    ring.changes.push_back(Arc::new(change));
                    if ring.changes.len() > KEPT {
                        ring.start = ring.changes.pop_front().map(|oldest| oldest.position);
                    }
                    drop(ring);
                    feed.grown.notify(usize::MAX);
                }
                Err(LoadError::Unavailable(error)) if error.is_stopped() => {
                    feed.close();
                    break;
                }
                // The entry may have been read, but not its machine: both are read again.
                Err(LoadError::Unavailable(_)) => {
                    tokio::time::sleep(AGAIN).await;
                    break;
                }
                // `check` and `verify` report entries that cannot be read.
                Err(_) => {}
            }
        }
        let mut ring = feed.ring();
        // Somebody may have come since.
        if !feed.is_wanted() {
            ring.start = None;
            return;
        }
    }
    feed.ring().start = None;
    feed.grown.notify(usize::MAX);
}

/// The next change; `None` when nobody wants one.
async fn next(feed: &Feed, entries: &mut Subscription) -> Option<Result<Change, LoadError>> {
    let left = feed.left.listen();
    if !feed.is_wanted() {
        return None;
    }
    let committed = match select(std::pin::pin!(entries.next()), left).await {
        Either::Left((committed, _)) => committed,
        Either::Right(_) => return None,
    };
    Some(match committed {
        Ok(committed) => feed.change(&committed).await,
        Err(error) => Err(error),
    })
}

impl Reader {
    /// The next change; `None` when the feed is closed. If the future is dropped, nothing is lost.
    pub(super) async fn next(&mut self) -> Option<Result<Arc<Change>, LoadError>> {
        loop {
            // Listen before looking, so that a change in between is not missed.
            let grown = self.feed.grown.listen();
            if self.feed.is_closed() {
                return None;
            }
            match self.feed.after(self.after) {
                Known::Change(change) => {
                    self.keep_up();
                    self.after = change.position;
                    return Some(Ok(change));
                }
                Known::Newest => self.keep_up(),
                Known::Unknown => {
                    let feed = Arc::clone(&self.feed);
                    let catch_up = std::pin::pin!(self.catch_up());
                    return match select(catch_up, std::pin::pin!(feed.ended())).await {
                        Either::Left((change, _)) => Some(change),
                        Either::Right(_) => None,
                    };
                }
            }
            grown.await;
        }
    }

    /// The ring has what comes next.
    fn keep_up(&mut self) {
        self.behind = None;
        self.read = None;
    }

    /// The position up to which everything was returned.
    pub(super) fn position(&self) -> Position {
        self.after
    }

    /// The next change, from the journal. If the future is dropped, nothing is lost.
    async fn catch_up(&mut self) -> Result<Arc<Change>, LoadError> {
        while self.read.is_none() {
            let entries = match &mut self.behind {
                Some(entries) => entries,
                None => self.behind.insert(self.feed.store.subscribe(Some(self.after)).await?),
            };
            match entries.next().await {
                // `check` and `verify` report entries that cannot be read.
                Err(LoadError::BrokenEntry { .. }) => self.after = entries.position(),
                committed => self.read = Some(committed?),
            }
        }
        let Some(committed) = &self.read else { unreachable!("it was read above") };
        let change = Arc::new(self.feed.change(committed).await?);
        self.read = None;
        self.after = change.position;
        Ok(change)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.feed.subscribers.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.feed.left.notify(usize::MAX);
        }
    }
}

impl Feed {
    async fn change(&self, committed: &Committed) -> Result<Change, LoadError> {
        let Committed { position, id, definition, entry, .. } = committed;
        let (position, id) = (*position, *id);
        let subject = self.subject(id).await?;
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
        let (event, data) = if definition.name == execution::DEFINITION.name {
            let state = ExecutionState {
                execution_id: id,
                action_summary: subject.summary.clone(),
                from_status: from,
                has_side_effects: subject.is_irreversible && to == "completed",
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
            };
            (EVENTS[1], json(&state))
        };
        Ok(Change { position, id, machine, session: subject.session.clone(), event, data })
    }

    async fn subject(&self, id: Id) -> Result<Arc<Subject>, LoadError> {
        let subjects = || self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = subjects().get(&id) {
            return Ok(Arc::clone(known));
        }
        let nothing = Subject { summary: String::new(), is_irreversible: false, session: None };
        let subject = match self.store.observed_one(id).await {
            Ok(observed) if observed.definition.name == execution::DEFINITION.name => {
                match self.store.load::<AnyExecution>(id).await {
                    Ok(execution) => {
                        let contract = execution.context();
                        Subject {
                            summary: contract.summary_in(self.language.code()).to_owned(),
                            is_irreversible: contract.is_irreversible(),
                            session: contract.session_id().map(str::to_owned),
                        }
                    }
                    Err(LoadError::Unavailable(error)) => return Err(error.into()),
                    Err(_) => nothing,
                }
            }
            Ok(observed) => Subject { session: observed.session().map(str::to_owned), ..nothing },
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // It was pruned, or cannot be read: its transitions are told all the same.
            Err(_) => nothing,
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
    serde_json::to_string(data).unwrap_or_default()
}
