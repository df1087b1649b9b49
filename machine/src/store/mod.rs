//! Durable storage for machines: in memory, or in a SQLite file. See [`guarantees`] for what it promises.

mod acknowledge;
pub(crate) mod attempt;
pub(crate) mod backend;
mod backup;
mod batch;
mod begin;
pub mod blocking;
mod broken;
mod cancel;
mod change;
pub(crate) mod check;
#[cfg(feature = "cli")]
mod check_any;
mod commit_error;
#[cfg(test)]
mod conformance;
pub(crate) mod consumer;
pub(crate) mod crew;
mod cursor;
mod decide;
pub(crate) mod declared;
mod declined;
mod definitions;
mod done;
mod doubt;
mod failing;
mod gated;
mod gates;
mod handle;
mod history;
mod host;
mod identity;
mod key;
mod lease;
mod leave;
mod lender;
mod load;
mod load_all;
mod load_error;
mod lock_file;
mod memory;
pub(crate) mod message;
pub(crate) mod observe;
#[cfg(feature = "sqlite")]
mod open;
#[cfg(feature = "sqlite")]
mod open_error;
pub(crate) mod operation;
mod options;
mod overtaken;
mod perform;
mod prepare;
mod prune;
mod pruned;
pub(crate) mod pruning;
mod query;
mod question;
pub(crate) mod recover;
mod replay;
mod report;
mod resume;
pub(crate) mod retry;
mod seal;
mod send;
mod sessions;
mod settle;
#[cfg(feature = "sqlite")]
mod sqlite;
mod subscribe;
pub mod telemetry;
pub(crate) mod tool;
pub(crate) mod transitions;
mod unavailable;
pub(crate) mod undriven;
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
pub use check::{Blocked, Check, CheckedMachine, CheckedTool};
pub use commit_error::CommitError;
pub use crew::{DrivenKind, LiveWorker};
pub use cursor::{Cursor, InvalidCursor};
pub use decide::Decide;
pub use done::Done;
pub use failing::Failing;
#[cfg(any(feature = "cli", feature = "http"))]
pub(crate) use gates::Standing;
pub use handle::Store;
pub use load_error::LoadError;
pub use message::{Delivery, InvalidMessage, Message, Received};
#[cfg(feature = "sqlite")]
pub use open_error::OpenError;
pub use operation::Operation;
pub use options::OpenOptions;
pub use perform::{PerformError, Performing, ReadBackoff};
pub use prune::Prune;
pub use pruned::{Kept, PruneProgress, Pruned, Pruning};
pub use query::{Line, Page, Query};
pub use recover::Recovered;
pub use report::{ReportError, Reported};
pub use resume::{Resume, ResumeWarning, Resumed};
pub use send::{SendError, Sent, SetAside};
pub use sessions::{SessionCursor, SessionLine};
pub use settle::Settle;
pub use subscribe::{Committed, InvalidPosition, Position, Subscription};
pub use unavailable::Unavailable;
pub use verify::{Problem, Progress, Report};
pub use work::Cause;
