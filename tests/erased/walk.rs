//! Machines with some history, for round trips.

use machine::{
    contract::{
        AnyExecution, Applied, Execution,
        execution::{Event, Status},
    },
    erased::Unverified,
};
use machine_tests::{
    forge,
    samples::{mail, read},
};

use crate::model::{Who, apply};

/// An execution after the legal ones of the steps.
pub(crate) fn walked(steps: Vec<(Event, Who)>) -> AnyExecution {
    let mut machine = AnyExecution::from(Execution::new(read("a.txt").session("s").note("n", 1)));
    for (event, who) in steps {
        machine = match apply(machine, event, who) {
            Ok(machine) => machine,
            Err(refused) => refused.machine,
        };
    }
    machine
}

/// A stored execution whose journal has every kind of entry: created, held, moved, permitted,
/// fenced, and evidence both on time and late.
pub(crate) fn eventful() -> Unverified {
    use machine::{actor::ToolNode, store::SqliteStore};
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(folder.path().join("agent.db")).unwrap();
        let mut pending = Execution::new(mail("bob").timeout_seconds(0));
        let id = pending.id();
        store.create(&mut pending).await.unwrap();
        let (running, permit) = store.begin(pending, &ToolNode).await.unwrap();
        let since = machine::clock::now();
        while machine::clock::now() <= since + 1 {
            std::thread::yield_now();
        }
        assert_eq!(store.recover().await.unwrap().len(), 1);
        let outcome = permit.call(async |_permit| Ok(Applied::new("late"))).await;
        assert!(store.settle(running, outcome, &ToolNode).await.is_err());
        let stored: AnyExecution = store.load(id).await.unwrap();
        assert_eq!(stored.status(), Status::Waiting);
        forge::claim(&stored)
    })
}
