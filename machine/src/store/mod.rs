//! Durable storage for machines: in memory, or in a SQLite file. See [`guarantees`] for what it
//! promises.
//!
//! | to | see |
//! |---|---|
//! | open a store | [`Store`]: creates, commits, loads and verifies machines |
//! | | [`OpenOptions`]: the clock, the key of the digests, the kinds that the program declares |
//! | find machines | [`Query`]: selects them by kind, state, session or key |
//! | follow commits | [`Subscription`]: the entries that any process commits |
//! | send an event | [`Message`]: kept until a state takes it |
//! | | [`SetAside`]: the messages and machines that wait for a person |
//! | handle an error | [`CommitError`]: why nothing was written |
//! | | [`LoadError`]: why a machine was not read |
//! | maintain a file | [`Store::backup`]: copies it while it is in use |
//! | | [`Prune`]: selects the machines to delete |

pub(crate) mod backend;
#[cfg(test)]
pub(crate) mod conformance;
pub(crate) mod error;
pub(crate) mod handle;
pub(crate) mod inbox;
pub(crate) mod integrity;
pub(crate) mod lock;
pub(crate) mod memory;
#[cfg(feature = "sqlite")]
mod open;
pub(crate) mod operation;
pub(crate) mod options;
pub(crate) mod process;
pub(crate) mod read;
#[cfg(feature = "sqlite")]
mod sqlite;
pub(crate) mod upkeep;
pub(crate) mod write;

#[doc = include_str!("../docs/guarantees.md")]
pub mod guarantees {}

pub use backend::Child;
#[cfg(feature = "sqlite")]
pub use error::OpenError;
pub use error::{CommitError, LoadError, Unavailable};
pub use handle::Store;
pub use inbox::{
    crew::LiveWorker,
    message::{Delivery, InvalidMessage, Message, Received},
    protocol::Cause,
    send::{SendError, Sent, SetAside},
};
pub use integrity::{
    check::{Blocked, Check, CheckedMachine, CheckedTool},
    verify::{Problem, VerifyProgress, VerifyReport},
};
pub use operation::Operation;
pub use options::OpenOptions;
pub(crate) use read::failing::Failing;
pub use read::{
    cursor::Cursor,
    query::{MachineLine, Page, Query},
    sessions::{SessionCursor, SessionLine},
    subscribe::{Committed, Position, Subscription},
};
#[cfg(all(feature = "sqlite", feature = "failpoints"))]
#[doc(hidden)]
pub use sqlite::cost;
pub use upkeep::{
    backup::{Backup, BackupError, BackupProgress},
    prune::Prune,
    pruned::Pruned,
};
