//! Questions of tests to any store.

use std::path::PathBuf;

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Callable, Contract, Execution, Permit, Planned,
        execution::{Pending, Running, Status},
    },
    effects::EffectError,
    store::{MachineLine, Query, Store, VerifyReport},
};
use tempfile::TempDir;

use crate::actors::tool_node;

/// Waits for a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A file in a new folder.
#[must_use]
pub fn new_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    (folder, file)
}

/// All machines that a query selects, over all of its pages.
pub async fn lines(store: &Store, query: &Query) -> Vec<MachineLine> {
    let mut query = query.clone();
    let mut lines = Vec::new();
    loop {
        let page = store.list(&query).await.unwrap();
        lines.extend(page.items.into_iter().map(Result::unwrap));
        match page.next {
            Some(next) => query = query.after(next),
            None => return lines,
        }
    }
}

/// Every digest, seal and rule of the store holds.
pub async fn assert_intact(store: &Store) -> VerifyReport {
    let report = store.verify_all(|_| {}).await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.problems);
    report
}

/// Closes the store of a process. Others may use the file meanwhile; then it keeps its log.
pub async fn close(store: Store) {
    if let Err(error) = store.close().await {
        assert!(error.is_busy(), "{error}");
    }
}

/// Stores a new execution.
pub async fn stored(store: &Store, contract: Contract) -> Execution<Pending> {
    let mut pending = Execution::new(contract);
    store.create(&mut pending).await.unwrap();
    pending
}

/// Stores a new execution of a tool's contract.
pub async fn planned<T: Callable>(
    store: &Store,
    contract: Contract,
) -> Result<Planned<T>, EffectError> {
    let mut planned = Planned::new(contract).unwrap();
    store.batch().create(planned.machine()).write().await.map(|()| planned)
}

/// Stores a new execution, and begins it.
pub async fn begun(store: &Store, contract: Contract) -> (Execution<Running>, Permit<Action>) {
    store.begin(stored(store, contract).await, tool_node()).await.unwrap()
}

/// The state of an execution.
pub async fn status(store: &Store, id: Id) -> Status {
    store.load::<AnyExecution>(id).await.unwrap().status()
}
