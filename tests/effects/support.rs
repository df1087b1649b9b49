//! Shared helpers.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    clock::{Clock, Millis},
    contract::{AnyExecution, Callable, Contract, Evidence, InDoubt, Planned},
    store::Store,
    view::{ConsequenceView, Label, late_evidence},
};

use crate::process::STUCK;

/// A store in a new file. The folder is removed when the first one is dropped.
pub(crate) async fn new_store() -> (tempfile::TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    (folder, file, store)
}

/// A clock that the test sets.
#[derive(Debug, Clone)]
pub(crate) struct Time(Arc<AtomicI64>);

impl Time {
    /// It stands still from now on.
    pub(crate) fn stopped() -> Self {
        Self(Arc::new(AtomicI64::new(machine::clock::now())))
    }

    pub(crate) fn set(&self, now: Millis) {
        self.0.store(now, Ordering::SeqCst);
    }

    pub(crate) fn add(&self, time: Duration) {
        let time = i64::try_from(time.as_millis()).unwrap();
        self.0.fetch_add(time, Ordering::SeqCst);
    }
}

impl Clock for Time {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

/// Stores a new execution of this contract.
pub(crate) async fn stored<T: Callable>(store: &Store, contract: Contract) -> Planned<T> {
    let mut planned = Planned::new(contract).unwrap();
    store.batch().create(planned.machine()).write().await.unwrap();
    planned
}

/// Loads an execution that has not started.
pub(crate) async fn loaded<T: Callable>(store: &Store, id: Id) -> Planned<T> {
    match store.load(id).await.unwrap() {
        AnyExecution::Pending(pending) => Planned::of(pending).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Waits until `recover` finds this execution in doubt, because it is overdue.
pub(crate) async fn overdue(store: &Store, id: Id) -> InDoubt {
    let started = std::time::Instant::now();
    loop {
        assert!(started.elapsed() < STUCK, "it is never overdue");
        let found = store.recover().await.unwrap();
        assert!(found.failed.is_empty(), "{found:?}");
        let mut in_doubt = found.in_doubt.into_iter();
        if let Some(doubt) = in_doubt.find(|doubt| doubt.execution().id() == id) {
            return doubt;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The view of a reasoner.
pub(crate) async fn view(store: &Store, id: Id) -> ConsequenceView {
    ConsequenceView::of(&store.load(id).await.unwrap())
}

pub(crate) async fn label(store: &Store, id: Id) -> Label {
    view(store, id).await.consequence_label
}

/// The evidence that arrived late.
pub(crate) async fn late(store: &Store, id: Id) -> Vec<Evidence> {
    let history = store.history(id).await.unwrap();
    late_evidence(&history).into_iter().map(|late| late.evidence).collect()
}

/// The class of an error, such as `KeyHeld`.
pub(crate) fn name(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:#?}");
    let class = text.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let words = class.unwrap_or_else(|| panic!("{text}")).0.split('_');
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// Every digest, seal and rule of the store holds.
pub(crate) async fn assert_intact(store: &Store) {
    let report = store.verify_all(|_| {}).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}
