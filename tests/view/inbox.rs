//! States in which a machine waits for a person, and is listed as such.

use machine::actor::{GraphRunner, ToolNode};

use crate::view::prelude::*;

/// No state of it is `#[stable]`, other than the last.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Leave {
    /// A person decides; otherwise a deadline does, or a parent that ends.
    #[initial]
    #[on(grant => Granted, by = actor::Human)]
    #[on(expire => Over, by = GraphRunner, after = Duration::from_secs(600))]
    #[on(cancel => Over, by = GraphRunner)]
    Requested,
    /// A tool is at work; a person may interfere.
    #[on(book => Booked, by = ToolNode)]
    #[on(withdraw => Over, by = actor::Human)]
    Granted,
    #[stable]
    #[on(withdraw => Over, by = actor::Human)]
    #[on(close => Over, by = GraphRunner)]
    Booked,
    #[terminal]
    Over,
}

#[tokio::test]
async fn only_a_person_moves_it() {
    let store = Store::memory();
    let waits = async || {
        let attention = Observer::new(&store).attention::<Internal>(&Query::new()).await.unwrap();
        assert!(attention.concerns.iter().all(|it| it.reason == ConcernReason::WaitsForPerson));
        attention.concerns.iter().map(|concern| concern.id.unwrap()).collect::<Vec<_>>()
    };
    let mut requested = Leave::new();
    let id = create(&store, &mut requested).await;
    assert_eq!(waits().await, [id]);

    let mut granted = requested.grant(ann());
    store.commit(&mut granted).await.unwrap();
    assert_eq!(waits().await, [], "the tool moves it");

    let mut booked = granted.book(tool_node());
    store.commit(&mut booked).await.unwrap();
    assert_eq!(waits().await, [id], "it may stay, and a person may move it");

    store.commit(&mut booked.withdraw(ann())).await.unwrap();
    assert_eq!(waits().await, []);
}
