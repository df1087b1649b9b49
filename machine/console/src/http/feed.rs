//! One reader of the journal for all subscribers.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use event_listener::Event;
use futures_util::future::{Either, select};

use super::change::{Change, Changes};
use machine::{
    store::{Committed, LoadError, Position, Store, Subscription, Unavailable},
    view::Language,
};

/// The number of changes that are kept for subscribers that keep up. Slower ones read the journal.
const KEPT: usize = 1024;

/// The pause before a journal that could not be read is read again.
const AGAIN: Duration = Duration::from_millis(200);

pub(super) struct Feed {
    store: Store,
    changes: Changes,
    ring: Mutex<Ring>,
    /// Notified when the ring grows, and when the feed is closed.
    grown: Event,
    subscribers: AtomicUsize,
    /// Notified when the last subscriber has left.
    left: Event,
    closed: AtomicBool,
}

#[derive(Default)]
struct Ring {
    changes: VecDeque<Arc<Change>>,
    /// Every change after this position is in the ring, or will be; `None` without readers.
    start: Option<Position>,
}

/// The part of the ring after a position.
enum Known {
    Change(Arc<Change>),
    /// Nothing yet.
    Newest,
    /// The journal has it.
    Unknown,
}

/// A place in the changes of a store.
pub(super) struct Reader {
    feed: Arc<Feed>,
    after: Position,
    /// The journal, while the ring does not have what comes next.
    behind: Option<Subscription>,
    /// Changes that were read from the journal and not returned yet.
    read: Option<Committed>,
}

impl Feed {
    pub(super) fn new(store: &Store, language: Language) -> Arc<Self> {
        Arc::new(Self {
            store: store.clone(),
            changes: Changes::new(store, language),
            ring: Mutex::default(),
            grown: Event::new(),
            subscribers: AtomicUsize::new(0),
            left: Event::new(),
            closed: AtomicBool::new(false),
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

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.grown.notify(usize::MAX);
        self.left.notify(usize::MAX);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    async fn ended(&self) {
        loop {
            let closed = self.grown.listen();
            if self.is_closed() {
                return;
            }
            closed.await;
        }
    }

    /// True while there is a reader.
    fn is_wanted(&self) -> bool {
        self.subscribers.load(Ordering::SeqCst) > 0 && !self.is_closed()
    }

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

/// Reads the journal into the ring while there are subscribers.
async fn tail(feed: Arc<Feed>, from: Position) {
    let mut after = from;
    loop {
        // The position was the newest one; if the file has lost it since, subscribers get the error
        // when they read.
        let mut entries = match feed.store.subscribe(Some(after)).await {
            Ok(entries) => entries,
            Err(LoadError::Unavailable(error))
                if error != Unavailable::Stopped && feed.is_wanted() =>
            {
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
                // The entry may have been read, but not its machine: both are read again.
                Err(LoadError::Unavailable(error)) if error != Unavailable::Stopped => {
                    tokio::time::sleep(AGAIN).await;
                    break;
                }
                Err(LoadError::Unavailable(_)) => {
                    feed.close();
                    break;
                }
                // `check` and `verify` report entries that cannot be read.
                Err(_) => {}
            }
        }
        let mut ring = feed.ring();
        // A subscriber may have come since.
        if !feed.is_wanted() {
            ring.start = None;
            return;
        }
    }
    feed.ring().start = None;
    feed.grown.notify(usize::MAX);
}

/// The next change; `None` when the last subscriber has left.
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
        Ok(committed) => feed.changes.of(&committed).await,
        Err(error) => Err(error),
    })
}

impl Reader {
    /// Checks that the store can be read.
    pub(super) async fn check(&self) -> Result<(), LoadError> {
        self.feed.store.position().await.map(drop)
    }

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

    pub(super) fn position(&self) -> Position {
        self.after
    }

    /// The next change, from the journal. If the future is dropped, nothing is lost.
    async fn catch_up(&mut self) -> Result<Arc<Change>, LoadError> {
        loop {
            if let Some(committed) = &self.read {
                let change = Arc::new(self.feed.changes.of(committed).await?);
                self.read = None;
                self.after = change.position;
                return Ok(change);
            }
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
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.feed.subscribers.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.feed.left.notify(usize::MAX);
        }
    }
}
