//! What is behind a [`Store`](super::Store): plain data, one atomic batch, and reads. All policy is
//! above it; what must be atomic is data in the batch.

use std::{fmt, future::Future, path::PathBuf, pin::Pin, sync::Arc};

use async_channel::Sender;

use super::{
    BackupError, BackupProgress, Unavailable,
    attempt::Attempt,
    backup::Copied,
    consumer::{Advance, Offset},
    message::{Queued, Received},
    pruned::Kept,
    pruning::{Candidate, Link, Prune, Pruning},
    work::{Event, Outcome, Refusal, Work},
};
use crate::{
    clock::Millis,
    definition::{Definition, Fingerprint},
    id::Id,
    journal::{Digest, DigestKey, Line},
    stored::{Hold, ToolEffect},
};

/// The answer of a backend: it arrives after the work is done, on the thread that did it.
pub(crate) type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Unavailable>> + Send>>;

/// Where machines are stored. Every method returns at once; the work happens elsewhere.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// Which store this is.
    fn identity(&self) -> Identity;

    /// Writes all of a batch, or nothing. When the answer arrives, it is durable.
    fn apply(&self, batch: Batch) -> Answer<Result<Applied, Rejected>>;

    /// The rows of some machines, in this order.
    fn rows(&self, ids: Vec<Id>) -> Answer<Vec<Found>>;

    /// A page of rows, with state, summary and context where `filter.whole` asks for them.
    fn select(&self, filter: Filter) -> Answer<Vec<(u64, Found)>>;

    /// At most `limit` journal lines of a machine, from this number on. An entry that cannot be read
    /// ends the page with its error.
    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>>;

    /// The lines of all machines of a session, each machine's together and in order. One that cannot
    /// be read ends those of its machine with its error.
    fn journals(&self, session: String) -> Answer<Vec<JournalOf>>;

    /// At most `limit` lines of the whole journal after this sequence number.
    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>>;

    /// The attempts that match, oldest first.
    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>>;

    /// Machines of these kinds, by when a worker should look at them; at most this many of each kind.
    /// Then those whose lease one of the ended workers has.
    fn agenda(&self, kinds: Vec<String>, limit: usize, ended: Vec<String>) -> Answer<Vec<Agenda>>;

    /// The workers that have leases.
    fn holders(&self) -> Answer<Vec<String>>;

    /// A machine with its work and its queued messages, oldest first.
    fn task(&self, id: Id) -> Answer<Task>;

    /// The messages that match, oldest first.
    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>>;

    /// The machines that are set aside, by id, with the error.
    fn set_aside(&self) -> Answer<Vec<(Id, Option<String>)>>;

    /// The children of a machine, in the order in which they were created.
    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>>;

    /// The stored definitions.
    fn definitions(&self) -> Answer<Definitions>;

    /// At most `limit` links of the chain over the whole journal after this sequence number: every line,
    /// and what is left of those that were pruned.
    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>>;

    /// What pruning would do with these machines now.
    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>>;

    /// Who has pruned, oldest first.
    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>>;

    /// The position up to which a consumer has read.
    fn offset(&self, consumer: String) -> Answer<Option<Offset>>;

    /// The newest sequence number; 0 in an empty store.
    fn newest(&self) -> Answer<u64>;

    /// Calls the function after each commit, of any process. It may be called too often.
    fn on_commit(&self, doorbell: Doorbell);

    /// Copies the whole store as it is now to a new file, and says how far it is. It ends early if
    /// nobody listens any more.
    fn backup(
        &self,
        _to: PathBuf,
        _steps: Sender<BackupProgress>,
    ) -> Answer<Result<Copied, BackupError>> {
        Box::pin(async { Ok(Err(BackupError::InMemory)) })
    }

    /// Runs work that may block, such as file locks.
    fn run(&self, work: Box<dyn FnOnce() + Send>);

    /// Finishes what is queued and closes. Everything after that is `Unavailable`.
    fn close(&self) -> Answer<()>;
}

/// Wakes the subscriptions that wait for new entries.
pub(crate) type Doorbell = Arc<dyn Fn() + Send + Sync>;

/// Which store it is. The generation rises when an older copy of the file is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) store: Id,
    pub(crate) generation: u64,
}

impl Identity {
    /// Shows whether a store is opened with the key that it was created with.
    pub(crate) fn seal(&self, key: &DigestKey) -> Digest {
        key.digest(&[b"store", self.store.bytes(), &self.generation.to_le_bytes()])
    }
}

/// Writes that happen together.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// A random number that is stored with every row of the batch. The same batch, sent again after
    /// an error that left its outcome open, is recognized by it and answered with success.
    pub(crate) commit_id: i64,
    /// The definitions that rows and lines refer to. Those that are missing are written.
    pub(crate) definitions: Vec<Arc<Definition>>,
    pub(crate) writes: Vec<Write>,
    /// What happens to inboxes and leases. Each is decided by [`step`](super::work::step), before
    /// anything is written.
    pub(crate) events: Vec<(Id, Event)>,
    /// Machines that become children: the child, and its parent.
    pub(crate) children: Vec<(Id, Id)>,
    /// Kinds of machines that workers drive from now on.
    pub(crate) drives: Vec<String>,
    /// Machines to prune. What must not be pruned is kept, and keeps nothing else from being written.
    pub(crate) prune: Option<Prune>,
    /// A consumer that moves on.
    pub(crate) advance: Option<Advance>,
    /// The time, for what the writes cause.
    pub(crate) now: Millis,
}

impl Batch {
    /// A batch of nothing.
    pub(crate) fn new(commit_id: i64, now: Millis) -> Self {
        let (definitions, writes, events) = (Vec::new(), Vec::new(), Vec::new());
        let (children, drives) = (Vec::new(), Vec::new());
        let (prune, advance) = (None, None);
        Self { commit_id, definitions, writes, events, children, drives, prune, advance, now }
    }

    /// Whether it only writes machines.
    pub(crate) fn is_plain(&self) -> bool {
        self.has_no_work() && self.prune.is_none() && self.advance.is_none()
    }

    /// Whether it leaves inboxes and leases alone, apart from what its writes cause.
    pub(crate) fn has_no_work(&self) -> bool {
        self.events.is_empty() && self.children.is_empty() && self.drives.is_empty()
    }

    /// Whether it creates this machine.
    pub(crate) fn creates(&self, id: Id) -> bool {
        self.writes.iter().any(|write| write.row.id == id && write.expected.is_none())
    }

    /// Whether the lease holder of this machine is among the writers: its writes are no news.
    pub(crate) fn is_by_holder(&self, id: Id) -> bool {
        self.events.iter().any(|(of, event)| *of == id && matches!(event, Event::Moved { .. }))
    }
}

/// A machine that a worker should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agenda {
    pub(crate) id: Id,
    pub(crate) token: u64,
    pub(crate) news: u64,
    /// Since when, or from when on. Of a leased machine: when the lease ends.
    pub(crate) at: Millis,
    /// Who has it.
    pub(crate) worker: Option<String>,
    /// How often it was begun without an end.
    pub(crate) attempts: u32,
}

/// The lines of a machine, in order.
pub(crate) type JournalOf = (Id, Result<Vec<Line>, Broken>);

/// A machine, its work, and its queued messages.
pub(crate) type Task = (Found, Option<Work>, Vec<Queued>);

/// Which messages to read.
#[derive(Debug, Clone)]
pub(crate) enum Messages {
    /// All messages to a machine.
    To(Id),
    /// The one with this correlation id.
    One(Id, String),
    /// Those that were set aside.
    SetAside,
    All,
}

/// A child of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child {
    /// The machine.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// It is in a terminal state.
    pub has_ended: bool,
}

/// What a batch writes for one machine.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// The number of lines that the machine has on disk (compare-and-set); `None` creates it.
    pub(crate) expected: Option<u64>,
    pub(crate) row: Row,
    /// The new lines, in order.
    pub(crate) lines: Vec<Line>,
    /// What must be true of its key, checked before anything is written.
    pub(crate) claim: Option<Claim>,
    /// What happens to its attempt.
    pub(crate) attempt: Option<AttemptChange>,
    /// The tool that it calls. One that was irreversible once is refused as idempotent; it is checked
    /// before anything is written.
    pub(crate) tool: Option<ToolEffect>,
}

/// A machine's row. Sealed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: Id,
    /// The definition's name, such as `execution`. Not a column: the definition knows it.
    pub(crate) machine: String,
    pub(crate) definition: Fingerprint,
    /// The state's name.
    pub(crate) status: String,
    /// The number of journal lines.
    pub(crate) version: u64,
    pub(crate) epoch: u64,
    pub(crate) created_at: Millis,
    pub(crate) updated_at: Millis,
    /// The state is terminal.
    pub(crate) ended: bool,
    /// When its next deadline is due.
    pub(crate) due_at: Option<Millis>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) behind: Option<Id>,
    pub(crate) commit_id: i64,
    pub(crate) seal: Digest,
    /// The data of the state, the summary of the past, and the context, each as JSON text. A write
    /// leaves out a context that has not changed; a read for a list leaves out all three.
    pub(crate) state: String,
    pub(crate) summary: String,
    pub(crate) context: Option<Arc<str>>,
}

/// What a read found.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly every row is found")]
pub(crate) enum Found {
    /// The row, and the digest of the newest line (none where the caller wants no whole rows).
    Row(Row, Option<Digest>),
    Missing(Id),
    Broken(Broken),
}

impl Found {
    pub(crate) fn definition(&self) -> Option<Fingerprint> {
        match self {
            Self::Row(row, _) => Some(row.definition),
            Self::Missing(_) | Self::Broken(_) => None,
        }
    }
}

/// Data that this library did not write. They concern one machine or one attempt only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The machine, if its id can be read.
    pub(crate) id: Option<Id>,
    pub(crate) reason: String,
    /// The place of a row in the order of its deadline, if that can be read.
    pub(crate) due_at: Option<Millis>,
}

/// A line of the whole journal.
#[derive(Debug, Clone)]
pub(crate) struct Sequenced {
    pub(crate) seq: u64,
    /// The machine, unless the row is broken.
    pub(crate) id: Option<Id>,
    pub(crate) line: Result<Line, Broken>,
    /// On the last line of each transaction: covers every line of the file so far.
    pub(crate) chain: Option<Digest>,
}

/// What must be true of a key. The backend folds the attempts with
/// [`key_state`](super::attempt::key_state) in the transaction that writes.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) key: String,
    pub(crate) space: String,
    pub(crate) action: Option<Digest>,
    /// What the key must be.
    pub(crate) wants: Wants,
}

/// What a key must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Free: the machine takes it.
    Free,
    /// Not applied: the machine is created.
    NotApplied,
    /// Never used: the machine says that its action is idempotent.
    NeverUsed,
}

/// A change of a machine's newest attempt.
#[derive(Debug, Clone)]
pub(crate) struct AttemptChange {
    /// A new attempt, whose token is the sequence number of the machine's last line in this batch;
    /// otherwise the newest one of the machine changes.
    pub(crate) opens: bool,
    pub(crate) key: String,
    pub(crate) space: String,
    pub(crate) action: Option<Digest>,
    pub(crate) hold: Hold,
    pub(crate) worker: Option<String>,
    pub(crate) expires_at: Option<Millis>,
}

/// A batch is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The sequence number of the last line of each write.
    pub(crate) last: Vec<u64>,
    /// The outcome of each event.
    pub(crate) outcomes: Vec<Outcome>,
    /// How many entries of each candidate were pruned, or why it was kept.
    pub(crate) pruned: Vec<Result<u64, Kept>>,
    /// The consumer was where the batch expected it, and has moved on.
    pub(crate) advanced: bool,
}

/// A precondition does not hold. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rejected {
    Conflict(Id),
    NotFound(Id),
    AlreadyStored(Id),
    AlreadyDone {
        id: Id,
        by: Id,
    },
    KeyHeld {
        id: Id,
        by: Id,
    },
    KeyReused {
        id: Id,
        by: Id,
    },
    /// An attempt at the key of this machine cannot be trusted.
    BrokenAttempt {
        id: Id,
        reason: String,
    },
    /// The parent of a new child is in a terminal state.
    Ended(Id),
    /// The protocol of inboxes and leases forbids an event.
    Refused {
        id: Id,
        refusal: Refusal,
    },
    /// A tool, or an action, that is known to be irreversible.
    EffectLowered {
        id: Id,
        what: String,
    },
}

/// What a backend has of definitions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Definitions {
    pub(crate) intact: Vec<Arc<Definition>>,
    /// What is wrong with the others: the machines that were written under them cannot be read.
    pub(crate) broken: Vec<String>,
}

/// Which rows to select. Rows come in the order in which they were created or, with `due_by`, most
/// overdue first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) machine: Option<String>,
    pub(crate) definition: Option<Fingerprint>,
    pub(crate) status: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) behind: Option<Id>,
    /// Only those in a terminal state.
    pub(crate) ended: bool,
    pub(crate) due_by: Option<Millis>,
    /// Not changed after this time.
    pub(crate) unchanged_since: Option<Millis>,
    /// The place of the last row of the previous page: its `due_at` and its number.
    pub(crate) after: Option<(Millis, u64)>,
    pub(crate) limit: usize,
    /// With state, summary, context and newest digest.
    pub(crate) whole: bool,
}

/// Which attempts to read.
#[derive(Debug, Clone)]
pub(crate) enum Attempts {
    OfKey(String),
    /// Those with a worker: its permit is unanswered, even if late evidence settles the key.
    Unanswered,
    All,
}

/// What a backend needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) key: DigestKey,
    /// How long to wait for another process, in milliseconds.
    pub(crate) busy_ms: u64,
}
