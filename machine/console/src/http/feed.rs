//! The journal as a stream of changes, for each subscriber from its own position on.

use std::sync::Arc;

use tokio::sync::watch;

use super::change::{Change, Changes};
use machine::{
    store::{Committed, LoadError, Position, Store, Subscription},
    view::Language,
};

pub(super) struct Feed {
    changes: Changes,
    is_closed: watch::Sender<bool>,
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
            changes: Changes::new(store, language),
            is_closed: watch::Sender::new(false),
        })
    }

    /// The changes after a position; without one, those from now on.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        after: Option<Position>,
    ) -> Result<Reader, LoadError> {
        let after = match after {
            Some(after) => after,
            None => self.changes.store.position().await?,
        };
        // It also says whether the store has the position.
        let entries = self.changes.store.subscribe(Some(after)).await?;
        Ok(Reader { feed: Arc::clone(self), after, entries, read: None })
    }

    pub(super) fn close(&self) {
        self.is_closed.send_replace(true);
    }

    async fn ended(&self) {
        // It fails only without the sender, which is here.
        let _ = self.is_closed.subscribe().wait_for(|is_closed| *is_closed).await;
    }
}

impl Reader {
    /// Checks that the store can be read.
    pub(super) async fn check(&self) -> Result<(), LoadError> {
        self.feed.changes.store.position().await.map(drop)
    }

    pub(super) fn position(&self) -> Position {
        self.after
    }

    /// The next change; `None` when the feed is closed. If the future is dropped, nothing is lost.
    pub(super) async fn next(&mut self) -> Option<Result<Change, LoadError>> {
        let feed = Arc::clone(&self.feed);
        tokio::select! {
            biased;
            () = feed.ended() => None,
            change = self.read_next() => Some(change),
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
