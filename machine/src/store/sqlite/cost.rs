//! The cost of the statements on a file, as SQLite counts it: for the tests and benchmarks of this
//! library.
//!
//! Without the feature `failpoints` nothing of this is compiled.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
};

use rusqlite::{
    Connection, StatementStatus,
    trace::{TraceEvent, TraceEventCodes},
};

use crate::store::lock::lock;

/// The work of statements, apart from those with which SQLite reads the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The steps of SQLite's virtual machine.
    pub steps: i64,
    /// The rows that statements returned, and those that scans of whole tables read.
    pub rows: i64,
}

#[derive(Debug, Default)]
struct Counters {
    steps: AtomicI64,
    rows: AtomicI64,
}

static FILES: LazyLock<Mutex<HashMap<PathBuf, Arc<Counters>>>> = LazyLock::new(Mutex::default);

/// The cost of all statements of this process on a file since the last call.
#[must_use]
pub fn take(file: &Path) -> Cost {
    let counters = of(file);
    Cost { steps: counters.steps.swap(0, Relaxed), rows: counters.rows.swap(0, Relaxed) }
}

fn of(file: &Path) -> Arc<Counters> {
    let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mut files = lock(&FILES);
    Arc::clone(files.entry(path).or_default())
}

pub(super) fn count(connection: &mut Connection, file: &Path) -> rusqlite::Result<()> {
    let counters = of(file);
    let codes = TraceEventCodes::SQLITE_TRACE_STMT
        | TraceEventCodes::SQLITE_TRACE_PROFILE
        | TraceEventCodes::SQLITE_TRACE_ROW;
    // The counters of a statement rise from run to run, and wrap: what counts is by how much they
    // rise from its start to its end.
    let running = Mutex::new(HashMap::new());
    let add = move |event: TraceEvent<'_>| match event {
        // SQLite reads the schema by statements without a text. How often depends on how many
        // connections there are.
        TraceEvent::Row(statement) if !statement.sql().is_empty() => {
            counters.rows.fetch_add(1, Relaxed);
        }
        // A trigger starts within its statement.
        TraceEvent::Stmt(statement, text) if !text.starts_with("--") => {
            lock(&running)
                .insert(statement.sql().into_owned(), STATUS.map(|it| statement.get_status(it)));
        }
        TraceEvent::Profile(statement, _) => {
            if let Some(start) = lock(&running).remove(&*statement.sql()) {
                let now = STATUS.map(|it| statement.get_status(it));
                let [steps, scanned] = [0, 1].map(|at| i64::from(now[at].wrapping_sub(start[at])));
                counters.steps.fetch_add(steps, Relaxed);
                counters.rows.fetch_add(scanned, Relaxed);
            }
        }
        _ => {}
    };
    connection.trace_v2(codes, Some(add))
}

/// The steps of SQLite's virtual machine, and the rows that scans of whole tables read.
const STATUS: [StatementStatus; 2] = [StatementStatus::VmStep, StatementStatus::FullscanStep];
