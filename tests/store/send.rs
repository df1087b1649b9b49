//! The futures of a store can be spawned on a runtime with several threads.

use machine::{
    Id,
    contract::{AnyExecution, execution::Waiting},
    store::{Query, Store},
};
use machine_tests::actors::tool_node;
use machine_tests::samples::pending_mail;

use crate::store::support::begin_of;

fn can_be_spawned<T: Send>(future: T) {
    drop(future);
}

#[tokio::test]
async fn every_future_of_a_store_is_send() {
    let store = Store::memory();
    let mut pending = pending_mail("bob");
    let id: Id = pending.journal().id();
    can_be_spawned(Store::sqlite("never-polled.db"));
    can_be_spawned(store.create(&mut pending));
    can_be_spawned(store.commit(&mut pending));
    can_be_spawned(store.batch().create(&mut pending).write());
    can_be_spawned(store.load::<AnyExecution>(id));
    can_be_spawned(store.load_all::<AnyExecution>(&Query::new()));
    can_be_spawned(store.resume::<Waiting>(id));
    can_be_spawned(store.list(&Query::new()));
    can_be_spawned(store.json(id));
    can_be_spawned(store.history(id));
    can_be_spawned(store.export(id));
    can_be_spawned(store.verify::<AnyExecution>(id));
    can_be_spawned(store.verify_all(|_| {}));
    can_be_spawned(store.recover());
    can_be_spawned(store.in_doubt(id));
    can_be_spawned(store.position());
    can_be_spawned(store.close());
    let mut subscription = store.subscribe(None).await.unwrap();
    can_be_spawned(subscription.next());
    let mut begin = begin_of(pending_mail("ann"));
    can_be_spawned(store.batch().begin(&mut begin).write());
    can_be_spawned(store.begin(pending_mail("eve"), tool_node()));
}
