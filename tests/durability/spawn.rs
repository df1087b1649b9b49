//! Every future of a store can be spawned on a runtime with several threads.

use std::time::Duration;

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Execution, Gate, InDoubt, LateCall, Perform, Permit, Planned,
        Unsettled, execution,
    },
    effects::Change,
    store::{Query, Store},
};
use machine_tests::actors::{ann, graph_runner, tool_node};

use crate::machines::{AnyMeter, Meter, meter::Counting};

fn spawned<T: Send>(_: impl Future<Output = T> + Send + 'static) {}

/// Compiles, and is never called.
#[allow(dead_code, reason = "it only has to compile")]
fn can_be_spawned(store: &'static Store, id: Id) {
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
    spawned(async move { store.position().await });
    spawned(async move { store.recover().await });
    spawned(async move { store.in_doubt(id).await });
    spawned(async move { store.subscribe(None).await?.next().await });
    spawned(async move { store.close().await });
    spawned(async move { Store::sqlite("agent.db").await });
}

/// Compiles the operations that take an execution, and is never called.
#[allow(dead_code, reason = "it only has to compile")]
fn executions_can_be_spawned(
    store: &'static Store,
    mut pending: impl FnMut() -> Execution<execution::Pending>,
    mut outcome: impl FnMut() -> (Execution<execution::Running>, Unsettled),
    mut doubt: impl FnMut() -> InDoubt,
    (permit, late): (Permit<Action>, LateCall),
    service: impl Perform<Action> + Clone + 'static,
) {
    let id = pending().id();
    let (one, other) = (pending(), pending());
    spawned(async move { store.begin(one, tool_node()).await });
    spawned(async move { store.cancel(other, "no", tool_node()).await });
    let (one, to_settle) = (pending(), outcome());
    spawned(async move {
        let mut begin = Change::begin(one.into(), tool_node());
        let mut settle = Change::settle(to_settle.0, to_settle.1, tool_node());
        store.batch().change(&mut begin).change(&mut settle).write().await
    });
    let (running, ended) = outcome();
    spawned(async move { store.settle(running, ended, tool_node()).await });
    let given = service.clone();
    spawned(async move { permit.call(given).await });
    spawned(late);
    let (planned, given) = (Planned::<Action>::from(pending()), service.clone());
    spawned(async move { store.perform(planned, given, tool_node()).await });
    let (planned, given) = (Planned::<Action>::from(pending()), service.clone());
    let delays = [Duration::ZERO].into_iter();
    spawned(async move { store.perform_with_retries(planned, given, delays, tool_node()).await });
    let (running, given) = (outcome().0, service.clone());
    spawned(async move { store.perform_again::<Action>(running, given, tool_node()).await });

    spawned(async move { store.fence(id, "no", graph_runner()).await });
    let (one, two, three, four) = (doubt(), doubt(), doubt(), doubt());
    spawned(async move { store.confirm_applied(one, "seen", ann()).await });
    spawned(async move { store.confirm_not_applied(two, "not seen", ann()).await });
    spawned(async move { store.override_not_applied(three, "not seen", ann()).await });
    spawned(async move { store.ask_service(four, &service, tool_node()).await });
}

/// Compiles the operations that take a gate, and is never called.
#[allow(dead_code, reason = "it only has to compile")]
fn gates_can_be_spawned(
    store: &'static Store,
    (id, mut gate): (Id, impl FnMut() -> (Gate, Planned<Action>)),
) {
    let (mut asked, mut planned) = gate();
    spawned(async move { store.ask(&mut asked, &mut planned).await });
    spawned(async move { store.gate(id).await });
    let [one, two, three, four, five] = [(); 5].map(|()| gate().0);
    spawned(async move { machine_tests::approve(store, one, ann()).await });
    spawned(async move { store.decline(two, "no", ann()).await });
    spawned(async move { store.expire(three, graph_runner()).await });
    spawned(async move { store.withdraw(four, "no", graph_runner()).await });
    spawned(async move {
        let mut decide = machine_tests::approval(five, ann());
        store.batch().change(&mut decide).write().await
    });
}
