use std::{fmt, future::Future, path::PathBuf, pin::Pin, sync::Arc};

use async_channel::Sender;

use super::{
    batch::{AppliedBatch, Rejected, WriteBatch},
    claim::Attempts,
    crew::WorkerRow,
    filter::Filter,
    inbox::{CallLine, CallRow, Child, Messages, ReadyMachine, Schedules, WorkRows},
    record::{Record, Records},
    row::{Broken, FoundRow, Sequenced},
};
use crate::{
    clock::Millis,
    definition::Definition,
    id::Id,
    journal::{DigestKey, Line},
    store::{
        error::Unavailable,
        inbox::{message::Received, protocol::Schedule},
        operation::Operation,
        read::{
            sessions::{SessionCursor, SessionLine},
            transitions::{Selected, Transitions},
        },
        upkeep::{
            backup::{Backup, BackupError, BackupProgress},
            pruning::Link,
        },
        write::attempt::KeyAttempt,
    },
};

/// The answer of a backend: it arrives after the work is done, on the thread that did it.
pub(crate) type Reply<T> = Pin<Box<dyn Future<Output = Result<T, Unavailable>> + Send>>;

/// Declares a backend once: the trait, and for tests one that passes on to another backend what it
/// does not override.
macro_rules! backend {
    ($( $(#[$doc:meta])* fn $name:ident($($given:ident: $type:ty),*) -> $answer:ty; )*) => {
        /// Where machines are stored. Every method returns at once; the work happens elsewhere.
        pub(crate) trait Backend: fmt::Debug + Send + Sync {
            $( $(#[$doc])* fn $name(&self, $($given: $type),*) -> Reply<$answer>; )*

            /// Which store this is.
            fn identity(&self) -> Identity;

            /// Calls the function after each commit, of any process. It may be called too often.
            fn on_commit(&self, doorbell: DoorbellFn);

            /// Runs work that may block, such as file locks.
            fn run(&self, work: Box<dyn FnOnce() + Send>);

            /// Returns defects in the structure of the file, and damage to its pages. It reads the
            /// whole file.
            fn schema(&self) -> Reply<Vec<String>> {
                Box::pin(async { Ok(Vec::new()) })
            }

            /// Copies the whole store as it is now to a new file, and says how far it is. It ends
            /// early if the receiver is dropped.
            fn backup(
                &self,
                _to: PathBuf,
                _steps: Sender<BackupProgress>,
            ) -> Reply<Result<Backup, BackupError>> {
                Box::pin(async { Ok(Err(BackupError::InMemory)) })
            }
        }

        /// A backend in front of another one. Each method can be overridden; without that, the
        /// other one answers.
        #[cfg(test)]
        pub(crate) trait Delegate: fmt::Debug + Send + Sync {
            fn inner(&self) -> &dyn Backend;

            fn ask<T: Send + 'static>(
                &self,
                call: impl FnOnce(&dyn Backend) -> Reply<T> + Send + 'static,
            ) -> Reply<T> {
                call(self.inner())
            }

            $( fn $name(&self, $($given: $type),*) -> Reply<$answer> {
                self.ask(move |inner| inner.$name($($given),*))
            } )*

            fn on_commit(&self, doorbell: DoorbellFn) {
                self.inner().on_commit(doorbell);
            }

            fn run(&self, work: Box<dyn FnOnce() + Send>) {
                self.inner().run(work);
            }
        }

        #[cfg(test)]
        impl<D: Delegate> Backend for D {
            $( fn $name(&self, $($given: $type),*) -> Reply<$answer> {
                Delegate::$name(self, $($given),*)
            } )*

            fn identity(&self) -> Identity {
                self.inner().identity()
            }

            fn on_commit(&self, doorbell: DoorbellFn) {
                Delegate::on_commit(self, doorbell);
            }

            fn run(&self, work: Box<dyn FnOnce() + Send>) {
                Delegate::run(self, work);
            }
        }
    };
}

/// Reads of a backend, each answered by one of its methods that takes a query.
macro_rules! answers {
    ($by:ident: $( fn $name:ident($($given:ident: $type:ty),*) -> $answer:ty = $query:expr; )*) => {
        $( fn $name(&self, $($given: $type),*) -> Reply<$answer> {
            self.$by($query)
        } )*
    };
}

pub(crate) use answers;

backend! {
    /// Writes all of a batch, or nothing. When the answer arrives, it is durable.
    fn apply(batch: WriteBatch) -> Result<AppliedBatch, Rejected>;

    /// The rows of some machines, in this order.
    fn rows(ids: Vec<Id>) -> Vec<FoundRow>;

    /// A page of rows, with state, summary and context where `filter.whole` asks for them.
    fn select(filter: Filter) -> Vec<(u64, FoundRow)>;

    /// A page of the sessions, the one with the newest machine first, each with the number of that
    /// machine. After a cursor, machines with numbers above `upto` count only for what is said of a
    /// session.
    fn sessions(after: Option<SessionCursor>, limit: usize) -> Vec<(u64, SessionLine)>;

    /// At most `limit` journal lines of a machine, from this number on. An entry that cannot be
    /// read ends the page with its error.
    fn history(id: Id, from: u64, limit: usize) -> Result<Vec<Line>, Broken>;

    /// The number of transitions among the lines of a machine before the one with this number.
    fn moves_before(id: Id, number: u64) -> u64;

    /// The transitions of some machines of a session, with their digests checked.
    fn transitions(of: Selected) -> Transitions;

    /// At most `limit` lines of the whole journal after this sequence number.
    fn entries(after: u64, limit: usize) -> Vec<Sequenced>;

    /// The attempts that match, oldest first.
    fn attempts(which: Attempts) -> Vec<Result<KeyAttempt, Broken>>;

    /// Machines of these kinds. First those with a wake that is from later than `now`, because they
    /// have waited since before the clock went back; then all by the time of their wake, so that
    /// one may be listed twice. At most this many of each kind in each part. Then those whose lease
    /// one of the ended workers has.
    fn ready(
        kinds: Vec<String>,
        limit: usize,
        now: Millis,
        ended: Vec<String>
    ) -> Vec<ReadyMachine>;

    /// The kinds that workers have driven.
    fn driven() -> Vec<String>;

    /// The workers that have joined and not left, oldest first.
    fn workers() -> Vec<WorkerRow>;

    /// The workers that have leases.
    fn lease_holders() -> Vec<String>;

    /// A machine with its work and its queued messages, oldest first.
    fn task(id: Id) -> WorkRows;

    /// The messages that match, oldest first.
    fn messages(which: Messages) -> Vec<Result<Received, Broken>>;

    /// The machines that match, with their work.
    fn schedules(which: Schedules) -> Vec<(Id, Schedule)>;

    /// The children of a machine, in the order in which they were created.
    fn children(parent: Id) -> Vec<Result<Child, Broken>>;

    /// The calls of the invocation of one entry of a machine, by their places; `since` as
    /// [`Child::since`].
    fn calls(parent: Id, since: u64) -> Vec<Result<CallRow, Broken>>;

    /// The calls of the invocations of some entries, each by its machine and `since`, for a list.
    fn call_lines(entries: Vec<(Id, u64)>) -> Vec<Result<CallLine, Broken>>;

    /// The calls of a machine with this key, of all its entries, in the order in which they were
    /// created.
    fn same_call(parent: Id, key: String) -> Vec<Result<CallRow, Broken>>;

    fn parent(child: Id) -> Result<Option<Id>, Broken>;

    fn records(which: Records) -> Vec<Result<Record, Broken>>;

    /// The number of the newest definition; 0 without any. Definitions are never deleted.
    fn newest_definition() -> u64;

    fn definitions() -> DefinitionRows;

    /// At most `limit` links of the chain over the whole journal after this sequence number: every
    /// line, and the remains of pruned ones.
    fn links(after: u64, limit: usize) -> Vec<Link>;

    /// A page of the operator log: the operations with smaller numbers, newest first, each with its
    /// number.
    fn operations(before: Option<u64>, limit: usize) -> Vec<Operated>;

    /// The newest sequence number; 0 in an empty store.
    fn newest() -> u64;

    /// Completes queued work and closes. Every later call is `Unavailable`.
    fn close() -> ();
}

/// Wakes the subscriptions that wait for new entries.
pub(crate) type DoorbellFn = Arc<dyn Fn() + Send + Sync>;

pub(crate) type Operated = (u64, Result<Operation, Broken>);

/// Which store it is. The generation rises when a backup is put to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) store: Id,
    pub(crate) generation: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct DefinitionRows {
    pub(crate) intact: Vec<Arc<Definition>>,
    /// The defects of the others: the machines that were written under them cannot be read.
    pub(crate) broken: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreSettings {
    pub(crate) key: DigestKey,
    /// The time to wait for another process, in milliseconds.
    pub(crate) busy_ms: u64,
    /// The number of frames in the write-ahead log between two checkpoints.
    pub(crate) checkpoint_frames: u64,
}
