//! Machines with some history, for round trips.

use std::time::Duration;

use machine::{
    contract::{
        Action, AnyExecution, Applied, Call, Execution,
        execution::{Event, Status},
        service_fn,
    },
    store::Store,
    stored::Unverified,
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    samples::{mail, read},
    stores::block_on,
};

use crate::stored::model::{Who, apply};

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
    block_on(async {
        let store = Store::memory();
        let mut pending = Execution::new(mail("bob"));
        let id = pending.id();
        store.create(&mut pending).await.unwrap();
        let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
        let fencer = store.clone();
        let outcome = permit
            .call(service_fn(move |call: &Call<Action>| {
                let (store, id) = (fencer.clone(), call.execution_id);
                Box::pin(async move {
                    drop(store.fence(id, "it takes too long", graph_runner()).await?);
                    Ok(Applied::new("late"))
                })
            }))
            .await;
        assert!(store.settle(running, outcome, tool_node()).await.is_err());
        let stored: AnyExecution = store.load(id).await.unwrap();
        assert_eq!(stored.status(), Status::Waiting);
        let mut claim = store.export(id).await.unwrap();
        // The program has the definition; nothing reads it from the record.
        claim.definitions.clear();
        claim
    })
}

/// A gate that was declined by a person.
pub(crate) fn declined() -> Unverified {
    block_on(async {
        let store = Store::memory();
        let limit = Some(Duration::from_hours(1));
        let (mut gate, mut planned) = mail("bob").ask::<Action>(limit, ecs_node()).unwrap();
        let id = gate.id();
        store.ask(&mut gate, &mut planned).await.unwrap();
        let gate = store.gate(id).await.unwrap();
        store.decline(gate, "wrong address", ann()).await.unwrap();
        let mut claim = store.export(id).await.unwrap();
        claim.definitions.clear();
        claim
    })
}
