//! The journal as a stream of changes, for each subscriber from its own position on.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use event_listener::Event;
use futures_util::future::{Either, select};

use super::change::{Change, Changes};
use machine::{
    store::{Committed, LoadError, Position, Store, Subscription},
    view::Language,
};

pub(super) struct Feed {
    store: Store,
    changes: Changes,
    closed: AtomicBool,
    /// Notified when it is closed.
    closing: Event,
}

/// A place in the changes of a store.
pub(super) struct Reader {
    feed: Arc<Feed>,
    after: Position,
    entries: Subscription,
    /// An entry that was read from the journal, and whose change was not returned yet.
    read: Option<Committed>,
}

impl Feed {
    pub(super) fn new(store: &Store, language: Language) -> Arc<Self> {
        Arc::new(Self {
            store: store.clone(),
            changes: Changes::new(store, language),
            closed: AtomicBool::new(false),
            closing: Event::new(),
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
        let entries = self.store.subscribe(Some(after)).await?;
        Ok(Reader { feed: Arc::clone(self), after, entries, read: None })
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.closing.notify(usize::MAX);
    }

    async fn ended(&self) {
        // Listen before looking, so that the end in between is not missed.
        let closing = self.closing.listen();
        if !self.closed.load(Ordering::SeqCst) {
            closing.await;
        }
    }
}

impl Reader {
    /// Checks that the store can be read.
    pub(super) async fn check(&self) -> Result<(), LoadError> {
        self.feed.store.position().await.map(drop)
    }

    pub(super) fn position(&self) -> Position {
        self.after
    }

    /// The next change; `None` when the feed is closed. If the future is dropped, nothing is lost.
    pub(super) async fn next(&mut self) -> Option<Result<Change, LoadError>> {
        let feed = Arc::clone(&self.feed);
        match select(pin!(feed.ended()), pin!(self.read_next())).await {
            Either::Left(_) => None,
            Either::Right((change, _)) => Some(change),
        }
    }

    async fn read_next(&mut self) -> Result<Change, LoadError> {
        loop {
            if let Some(committed) = &self.read {
                let change = self.feed.changes.of(committed).await?;
                self.read = None;
                self.after = change.position;
                return Ok(change);
            }
            match self.entries.next().await {
                // `check` and `verify` report entries that cannot be read.
                Err(LoadError::BrokenEntry { .. }) => self.after = self.entries.position(),
                committed => self.read = Some(committed?),
            }
        }
    }
}
