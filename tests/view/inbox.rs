//! States in which a machine waits for a person, and is listed as such.

use std::time::Duration;

use machine::{
    Id,
    actor::{GraphRunner, Human, ToolNode},
    machine,
    store::{Query, Store},
    view::{Internal, Observer, Reason},
};
use serde::{Deserialize, Serialize};

/// No state of it is `#[stable]`, other than the last.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Leave {
    /// A person decides; otherwise a deadline does, or a parent that ends.
    #[initial]
    #[on(grant => Granted, by = Human)]
    #[on(expire => Over, by = GraphRunner, after = Duration::from_secs(600))]
    #[on(cancel => Over, by = GraphRunner)]
    Requested,
    /// A tool is at work; a person may interfere.
    #[on(book => Booked, by = ToolNode)]
    #[on(withdraw => Over, by = Human)]
    Granted,
    #[stable]
    #[on(withdraw => Over, by = Human)]
    #[on(close => Over, by = GraphRunner)]
    Booked,
    #[terminal]
    Over,
}

async fn waits(store: &Store) -> Vec<Id> {
    let attention = Observer::new(store).attention::<Internal>(&Query::new()).await.unwrap();
    assert!(attention.concerns.iter().all(|it| it.reason == Reason::WaitsForPerson));
    attention.concerns.iter().map(|concern| concern.id.unwrap()).collect()
}

#[tokio::test]
async fn only_a_person_moves_it() {
    let store = Store::memory();
    let ann = Human::new("ann").unwrap();
    let mut requested = Leave::new();
    store.create(&mut requested).await.unwrap();
    let id = requested.id();
    assert_eq!(waits(&store).await, [id]);

    let mut granted = requested.grant(&ann);
    store.commit(&mut granted).await.unwrap();
    assert_eq!(waits(&store).await, [], "the tool moves it");

    let mut booked = granted.book(machine_tests::actors::tool_node());
    store.commit(&mut booked).await.unwrap();
    assert_eq!(waits(&store).await, [id], "it may stay, and a person may move it");

    store.commit(&mut booked.withdraw(&ann)).await.unwrap();
    assert_eq!(waits(&store).await, []);
}
