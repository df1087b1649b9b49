//! The SQLite store.

mod begin;
mod check;
mod columns;
mod definitions;
mod doubt;
mod due;
mod key;
mod open;
mod read;
mod recover;
mod schema;
mod thread;
mod worker;
mod write;

use std::{fmt, path::PathBuf, sync::Arc};

pub use check::{Blocked, Check, CheckedMachine};
pub use open::OpenOptions;
pub use read::Listed;

use self::{definitions::Definitions, thread::Thread, worker::Worker};
use crate::clock::Clock;

/// Machines in one SQLite file, which several processes can use at once.
///
/// A commit is on disk when it returns (WAL, `synchronous=FULL`; both are verified when the file is
/// opened). A separate thread does the work, so that callers do not block. A store can be cloned and
/// shared. If a future is dropped before it completes, its write may or may not have happened: load
/// the machine again.
///
/// ```
/// use machine::actor::{EcsNode, ReasoningNode};
/// use machine::contract::{Contract, Execution, execution::Waiting};
/// use machine::store::SqliteStore;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("agent.db");
/// let store = SqliteStore::open(&file)?;
///
/// let question = Contract::ecs_request("Deploy to production?", &ReasoningNode)?;
/// let mut waiting = Execution::new(question)
///     .start(&EcsNode)
///     .suspend("Deploy to production?".to_owned(), &EcsNode);
/// store.create(&mut waiting).await?;
///
/// // Later, in any process:
/// let waiting = store.resume::<Waiting>(waiting.id()).await?;
/// assert_eq!(waiting.state().prompt, "Deploy to production?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    thread: Thread,
    worker: Arc<Worker>,
    definitions: Arc<Definitions>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.shared.path).finish_non_exhaustive()
    }
}
