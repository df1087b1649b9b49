use std::{fmt, future::Future, path::PathBuf, pin::Pin, sync::Arc};

use async_channel::Sender;

use super::{
    batch::{Applied, Batch, Rejected},
    claim::Attempts,
    crew::Registered,
    filter::Filter,
    inbox::{Agenda, Child, Messages, Task},
    row::{Broken, Found, Sequenced},
};
use crate::{
    definition::Definition,
    id::Id,
    journal::{DigestKey, Line},
    store::{
        error::Unavailable,
        inbox::{consumer::Offset, message::Received, protocol::Work},
        operation::Operation,
        read::{
            sessions::{SessionCursor, SessionLine},
            transitions::{Selected, Transitions},
        },
        upkeep::{
            backup::{BackupError, BackupProgress, Copied},
            pruned::Kept,
            pruning::{Candidate, Link, Pruning},
        },
        write::attempt::Attempt,
    },
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

    /// A page of the sessions, the one with the newest machine first, each with the number of that machine.
    /// After a cursor, machines with numbers above `upto` count only for what is said of a session.
    fn sessions(
        &self,
        after: Option<SessionCursor>,
        limit: usize,
    ) -> Answer<Vec<(u64, SessionLine)>>;

    /// At most `limit` journal lines of a machine, from this number on. An entry that cannot be read
    /// ends the page with its error.
    fn history(&self, id: Id, from: u64, limit: usize) -> Answer<Result<Vec<Line>, Broken>>;

    /// The transitions of some machines of a session, with their digests checked.
    fn transitions(&self, of: Selected) -> Answer<Transitions>;

    /// At most `limit` lines of the whole journal after this sequence number.
    fn entries(&self, after: u64, limit: usize) -> Answer<Vec<Sequenced>>;

    /// The attempts that match, oldest first.
    fn attempts(&self, which: Attempts) -> Answer<Vec<Result<Attempt, Broken>>>;

    /// Machines of these kinds, by when a worker should look at them; at most this many of each kind.
    /// Then those whose lease one of the ended workers has.
    fn agenda(&self, kinds: Vec<String>, limit: usize, ended: Vec<String>) -> Answer<Vec<Agenda>>;

    /// The kinds that workers have driven.
    fn driven(&self) -> Answer<Vec<String>>;

    /// The workers that have joined and not left, oldest first.
    fn workers(&self) -> Answer<Vec<Registered>>;

    /// The workers that have leases.
    fn holders(&self) -> Answer<Vec<String>>;

    /// A machine with its work and its queued messages, oldest first.
    fn task(&self, id: Id) -> Answer<Task>;

    /// The messages that match, oldest first.
    fn messages(&self, which: Messages) -> Answer<Vec<Result<Received, Broken>>>;

    /// The machines whose last attempt failed, oldest first, with their work.
    fn failing(&self) -> Answer<Vec<(Id, Work)>>;

    /// The children of a machine, in the order in which they were created.
    fn children(&self, parent: Id) -> Answer<Vec<Result<Child, Broken>>>;

    /// The machine that another one is the child of.
    fn parent(&self, child: Id) -> Answer<Result<Option<Id>, Broken>>;

    /// The stored definitions.
    fn definitions(&self) -> Answer<Definitions>;

    /// Returns defects in the structure of the file, apart from its rows.
    fn schema(&self) -> Answer<Vec<String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// At most `limit` links of the chain over the whole journal after this sequence number: every line,
    /// and what is left of those that were pruned.
    fn links(&self, after: u64, limit: usize) -> Answer<Vec<Link>>;

    /// Returns what pruning would do with these machines now.
    fn prunable(&self, candidates: Vec<Candidate>) -> Answer<Vec<Result<u64, Kept>>>;

    /// The prunings so far, oldest first.
    fn prunings(&self) -> Answer<Vec<Result<Pruning, Broken>>>;

    /// A page of the operator log: the operations with smaller numbers, newest first, each with its number.
    fn operations(&self, before: Option<u64>, limit: usize) -> Answer<Vec<Operated>>;

    /// The position up to which a consumer has read.
    fn offset(&self, consumer: String) -> Answer<Option<Offset>>;

    /// The newest sequence number; 0 in an empty store.
    fn newest(&self) -> Answer<u64>;

    /// Calls the function after each commit, of any process. It may be called too often.
    fn on_commit(&self, doorbell: Doorbell);

    /// Copies the whole store as it is now to a new file, and says how far it is. It ends early if
    /// the receiver is dropped.
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

/// An operation, with its number.
pub(crate) type Operated = (u64, Result<Operation, Broken>);

/// Which store it is. The generation rises when a backup is put to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) store: Id,
    pub(crate) generation: u64,
}

/// The definitions in a backend.
#[derive(Debug, Clone, Default)]
pub(crate) struct Definitions {
    pub(crate) intact: Vec<Arc<Definition>>,
    /// The defects of the others: the machines that were written under them cannot be read.
    pub(crate) broken: Vec<String>,
}

/// The settings of a backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) key: DigestKey,
    /// The time to wait for another process, in milliseconds.
    pub(crate) busy_ms: u64,
}
