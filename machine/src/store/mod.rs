//! Durable storage for machines: in memory, or in a SQLite file. See [`guarantees`] for what it promises.

pub(crate) mod attempt;
pub(crate) mod backend;
mod backup;
mod batch;
mod begin;
pub mod blocking;
mod cancel;
mod check;
#[cfg(feature = "cli")]
mod check_any;
mod commit_error;
#[cfg(test)]
mod conformance;
pub(crate) mod consumer;
mod cursor;
mod definitions;
mod doubt;
mod gates;
mod handle;
mod history;
mod key;
mod lease;
mod lender;
mod load;
mod load_all;
mod load_error;
mod memory;
pub(crate) mod message;
pub(crate) mod observe;
mod open_error;
pub(crate) mod operation;
mod options;
mod perform;
mod prepare;
mod prune;
mod pruned;
pub(crate) mod pruning;
mod query;
mod question;
pub(crate) mod recover;
mod resume;
pub(crate) mod retry;
mod seal;
mod send;
mod sessions;
mod settle;
mod sqlite;
mod subscribe;
pub mod telemetry;
pub(crate) mod transitions;
mod unavailable;
mod verify;
mod verify_attempts;
mod verify_chain;
mod verify_operations;
pub(crate) mod work;
mod worker;

#[doc = include_str!("../docs/guarantees.md")]
pub mod guarantees {}

pub use backend::Child;
pub use backup::{Backup, BackupError, BackupProgress};
pub use batch::Batch;
pub use begin::{Begin, Begun};
pub use check::{Blocked, Check, CheckedMachine};
pub use commit_error::CommitError;
pub use cursor::{Cursor, InvalidCursor};
pub use gates::Decide;
pub use handle::Store;
pub use load_error::LoadError;
pub use message::{Delivery, InvalidMessage, Message, Received};
pub use open_error::OpenError;
pub use operation::Operation;
pub use options::OpenOptions;
pub use perform::{PerformError, Performing, ReadBackoff};
pub use prune::Prune;
pub use pruned::{Kept, PruneProgress, Pruned, Pruning};
pub use query::{Line, Page, Query};
pub use recover::Recovered;
pub use resume::Resume;
pub use send::{SendError, Sent, SetAside};
pub use sessions::{SessionCursor, SessionLine};
pub use settle::Settle;
pub use subscribe::{Committed, InvalidPosition, Position, Subscription};
pub use unavailable::Unavailable;
pub use verify::{Problem, Progress, Report};
