use std::{collections::VecDeque, fmt, str::FromStr, sync::Arc};

use event_listener::Event;

use crate::{
    definition::Definition,
    id::{Id, InvalidText, shortened},
    journal::Entry,
    store::{backend::Sequenced, error::LoadError, handle::Store, read::cursor::pair},
};

/// A place in the journal of a store. As text it can be the id of a server-sent event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub(crate) generation: u64,
    pub(crate) sequence: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.generation, self.sequence)
    }
}

impl FromStr for Position {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let (generation, sequence) = pair(text).ok_or_else(|| {
            let text = shortened(text);
            InvalidText(format!("`{text}` is not a position; positions look like 1.42"))
        })?;
        Ok(Self { generation, sequence })
    }
}

/// An entry that was committed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Committed {
    /// Its place in the journal of the store.
    pub position: Position,
    /// The machine.
    pub id: Id,
    /// The definition that it was written under.
    pub definition: Arc<Definition>,
    /// The entry.
    pub entry: Entry,
}

/// The entries of a store, committed by any process, in commit order. A subscription misses nothing
/// and repeats nothing.
///
/// ```
/// # use machine::store::Store;
/// # async fn example(store: &Store) -> Result<(), machine::store::LoadError> {
/// let mut entries = store.subscribe(None).await?;
/// loop {
///     let committed = entries.next().await?;
///     println!("{}: {:?}", committed.id, committed.entry.fact);
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Subscription {
    store: Store,
    after: u64,
    read: VecDeque<Sequenced>,
    commits: Arc<Event>,
}

/// The number of entries read at once.
const PAGE: usize = 256;

impl Store {
    /// The position of the newest entry.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn position(&self) -> Result<Position, LoadError> {
        let sequence = self.inner.backend.newest().await?;
        Ok(Position { generation: self.inner.identity.generation, sequence })
    }

    /// The entries after a position, and all that follow; without a position, from the first entry
    /// on.
    ///
    /// # Errors
    ///
    /// [`LoadError::UnknownPosition`] if the store does not have the position: it is of another
    /// generation, or later than the newest entry.
    pub async fn subscribe(&self, from: Option<Position>) -> Result<Subscription, LoadError> {
        let newest = self.position().await?;
        let from = from.unwrap_or(Position { generation: newest.generation, sequence: 0 });
        if from.generation != newest.generation || from.sequence > newest.sequence {
            return Err(LoadError::UnknownPosition { position: from, newest });
        }
        let commits = self.commits();
        Ok(Subscription {
            store: self.clone(),
            after: from.sequence,
            read: VecDeque::new(),
            commits,
        })
    }

    /// Notified after each commit, of any process.
    pub(crate) fn commits(&self) -> Arc<Event> {
        Arc::clone(self.inner.commits.get_or_init(|| {
            let commits = Arc::new(Event::new());
            let bell = Arc::clone(&commits);
            self.inner.backend.on_commit(Arc::new(move || {
                bell.notify(usize::MAX);
            }));
            commits
        }))
    }
}

impl Subscription {
    /// The next entry; waits for it if there is none yet. If the future is dropped, nothing is
    /// lost.
    ///
    /// # Errors
    ///
    /// [`LoadError::BrokenEntry`] if the entry cannot be read; the next call returns the one after
    /// it. [`LoadError::Unavailable`] if the storage cannot be read now: call it again.
    pub async fn next(&mut self) -> Result<Committed, LoadError> {
        let inner = &self.store.inner;
        let (found, known) = loop {
            if let Some(first) = self.read.front() {
                let fingerprint = first.line.as_ref().ok().map(|line| line.definition);
                let known = inner.definitions.with(&*inner.backend, fingerprint.as_slice()).await?;
                // Nothing waits from here on, so an entry is taken only if it is returned.
                if let Some(found) = self.read.pop_front() {
                    break (found, known);
                }
            }
            // Listen before looking, so that a commit in between is not missed.
            let commit = self.commits.listen();
            self.read = inner.backend.entries(self.after, PAGE).await?.into();
            if self.read.is_empty() {
                commit.await;
            }
        };
        let sequence = found.seq;
        self.after = sequence;
        let broken = |reason: String| LoadError::BrokenEntry { sequence, reason };
        let line = found.line.map_err(|error| broken(error.reason))?;
        let id = found.id.ok_or_else(|| broken("its machine is unknown".to_owned()))?;
        let mut known = known.iter();
        let definition = known.find(|known| known.fingerprint == line.definition);
        let definition =
            definition.ok_or_else(|| broken("its definition is missing".to_owned()))?;
        let entry = Entry::of_line(line, definition).map_err(broken)?;
        let position = Position { generation: inner.identity.generation, sequence };
        let definition = Arc::clone(definition);
        Ok(Committed { position, id, definition, entry })
    }

    /// The position of the last entry that was returned.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { generation: self.store.inner.identity.generation, sequence: self.after }
    }
}
