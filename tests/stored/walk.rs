//! Machines with some history, for round trips.

use machine::{
    actor::ToolNode,
    contract::{
        AnyExecution, Applied, Execution,
        execution::{Event, Status},
    },
    store::Store,
    stored::Unverified,
};
use machine_tests::samples::{mail, read};

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

/// An execution whose journal has every kind of entry: created, held, moved, permitted, fenced, and
/// evidence both on time and late.
pub(crate) fn eventful() -> Unverified {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = Store::memory();
        let mut pending = Execution::new(mail("bob").timeout_seconds(0));
        let id = pending.id();
        store.create(&mut pending).await.unwrap();
        let (running, permit) = store.begin(pending, &ToolNode).await.unwrap();
        let since = machine::clock::now();
        while machine::clock::now() <= since + 1 {
            std::thread::yield_now();
        }
        assert_eq!(store.recover().await.unwrap().in_doubt.len(), 1);
        let outcome = permit.call(async |_permit| Ok(Applied::new("late"))).await;
        assert!(store.settle(running, outcome, &ToolNode).await.is_err());
        let stored: AnyExecution = store.load(id).await.unwrap();
        assert_eq!(stored.status(), Status::Waiting);
        let mut claim = store.export(id).await.unwrap();
        // The program has the definition; nothing reads it from the record.
        claim.definitions.clear();
        claim
    })
}
