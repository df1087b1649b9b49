//! Every future of a store can be spawned on a runtime with several threads.

use machine::{
    Id,
    actor::{GraphRunner, ToolNode},
    contract::{AnyExecution, Execution, InDoubt, Outcome, execution},
    store::{Query, Store},
};

use crate::machines::{AnyMeter, Meter, meter::Counting};

/// Compiles, and is never called.
#[allow(dead_code, reason = "it only has to compile")]
fn can_be_spawned(store: &'static Store, id: Id) {
    fn spawned<T: Send>(_: impl Future<Output = T> + Send + 'static) {}

    spawned(async move { store.create(&mut Meter::new()).await });
    spawned(async move { store.commit(&mut Meter::new()).await });
    spawned(async move { store.batch().create(&mut Meter::new()).write().await });
    spawned(async move { store.load::<AnyMeter>(id).await });
    spawned(async move { store.load_all::<AnyExecution>(&Query::new()).await });
    spawned(async move { store.resume::<Counting>(id).await });
    spawned(async move { store.list(&Query::new()).await });
    spawned(async move { store.history(id).await });
    spawned(async move { store.export(id).await });
    spawned(async move { store.json(id).await });
    spawned(async move { store.verify::<AnyMeter>(id).await });
    spawned(async move { store.verify_all(|_| {}).await });
    spawned(async move { store.recover().await });
    spawned(async move { store.in_doubt(id).await });
    spawned(async move { store.subscribe(None).await?.next().await });
    spawned(async move { store.close().await });
    spawned(async move { Store::sqlite("agent.db").await });
}

/// The same for those that take an execution.
#[allow(dead_code, reason = "it only has to compile")]
fn executions_can_be_spawned(
    store: &'static Store,
    pending: Execution<execution::Pending>,
    (running, outcome): (Execution<execution::Running>, Outcome),
    (one, other): (InDoubt, InDoubt),
) {
    fn spawned<T: Send>(_: impl Future<Output = T> + Send + 'static) {}

    spawned(async move { store.begin(pending, &ToolNode).await });
    spawned(async move { store.settle(running, outcome, &ToolNode).await });
    spawned(async move { store.confirm_applied(one, "seen", &GraphRunner).await });
    spawned(async move { store.confirm_not_applied(other, "not seen", &GraphRunner).await });
}
