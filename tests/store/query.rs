//! Lists: filters, and what a line says.

use std::time::Duration;

use machine::{
    contract::{AnyExecution, Execution},
    store::{LoadError, Query},
};
use machine_tests::{assert_err, samples::mail};

use crate::store::{
    filled::{AnyEgg, Filled},
    support::{Place, on_file},
};

on_file! {
    each_filter_selects_what_it_says,
    load_all_is_load_one_by_one,
    json_is_what_load_sees,
}

async fn each_filter_selects_what_it_says(place: Place) {
    let filled = Filled::new(place).await;
    assert_eq!(filled.all().await.len(), 4 * 7 + 3);
    let key = mail("bob").idempotency_key().unwrap().to_string();
    let (gate, start) = (filled.gate, filled.start);
    let count = [
        filled.selects(Query::new().machine("execution"), |line| line.machine == "execution").await,
        filled.selects(Query::new().machine("egg"), |line| line.machine == "egg").await,
        // Two kinds of machines have a state of this name.
        filled.selects(Query::new().status("waiting"), |line| line.status == "waiting").await,
        filled
            .selects(Query::new().session("s1"), |line| line.session.as_deref() == Some("s1"))
            .await,
        filled.selects(Query::new().key(&key), |line| line.key.as_ref() == Some(&key)).await,
        filled.selects(Query::new().behind(gate), |line| line.behind == Some(gate)).await,
    ];
    assert_eq!(count, [15, 8, 9, 3, 4, 1]);

    // Nothing is old at first, and everything is after a day.
    let day = Duration::from_hours(24);
    filled.at(0);
    assert_eq!(filled.place.lines(&Query::new().unchanged_for(day)).await, []);
    filled.at(24 * 3_600_000 + 60_000);
    let all = filled.all().await.len();
    assert_eq!(filled.selects(Query::new().unchanged_for(day), |_| true).await, all);
    assert_eq!(filled.place.lines(&Query::new().unchanged_for(Duration::MAX)).await, []);
    let due = filled.place.lines(&Query::new().due()).await;
    assert_eq!(due.len(), 8);
    filled.at(1000);
    let due = filled.place.lines(&Query::new().due()).await;
    assert!(due.len() == 2 && due.iter().all(|line| line.due_at == Some(start + 1000)), "{due:?}");
}

/// `load_all` returns for each machine the result of `load`.
async fn load_all_is_load_one_by_one(place: Place) {
    let filled = Filled::new(place).await;
    for query in [
        Query::new(),
        Query::new().session("s1"),
        Query::new().status("waiting"),
        // Another kind, which `load_all` replaces by its own.
        Query::new().machine("ticket"),
    ] {
        let query = query.limit(4);
        let of_kind = query.clone().machine("execution");
        let (mut query, mut of_kind) = (query, of_kind);
        let mut count = 0;
        loop {
            let listed = filled.place.store.list(&of_kind).await.unwrap();
            let loaded = filled.place.store.load_all::<AnyExecution>(&query).await.unwrap();
            assert_eq!(loaded.next, listed.next);
            assert_eq!(loaded.items.len(), listed.items.len());
            for (line, loaded) in listed.items.into_iter().zip(loaded.items) {
                let one: AnyExecution = filled.place.store.load(line.unwrap().id).await.unwrap();
                let loaded = loaded.unwrap();
                assert_eq!(format!("{loaded:?}"), format!("{one:?}"));
                assert_eq!(loaded.journal().summary(), one.journal().summary());
                assert_eq!(loaded.journal().version(), one.journal().version());
                count += 1;
            }
            let Some(next) = loaded.next else { break };
            (query, of_kind) = (query.after(next), of_kind.after(next));
        }
        assert!(count > 0, "{query:?}");
    }
}

async fn json_is_what_load_sees(place: Place) {
    let done = place.done(mail("bob").session("s1")).await;
    let json = place.store.json(done.id()).await.unwrap();
    let line = &place.lines(&Query::new()).await[0];
    assert_eq!(json["id"], line.id.to_string());
    assert_eq!(json["machine"], "execution");
    assert_eq!(json["status"], "completed");
    assert_eq!(json["version"], line.version);
    assert_eq!(json["session"], "s1");
    assert_eq!(json["created_at"], line.created_at);
    assert_eq!(json["updated_at"], line.updated_at);
    assert_eq!(json["state"], serde_json::to_value(done.state()).unwrap());
    assert_eq!(json["context"], serde_json::to_value(done.context()).unwrap());
    let missing = Execution::new(mail("x")).id();
    assert_err!(place.store.json(missing).await, LoadError::NotFound { id } if *id == missing);
}

/// A row that cannot be read is an error at its position, whatever the query and the size of its
/// pages, and the pages end.
#[tokio::test]
async fn a_broken_row_is_reported_at_its_position() {
    let filled = Filled::new(Place::new().await).await;
    filled.at(5000);
    let due = filled.place.lines(&Query::new().due()).await;
    let broken = due[3].id;
    assert_eq!(filled.place.edit("UPDATE instance SET epoch = -1 WHERE id = ?1", broken), 1);
    for query in [Query::new(), Query::new().newest_first().machine("egg"), Query::new().due()] {
        let everything = query.clone().limit(usize::MAX);
        let mut expected = filled.place.store.list(&everything).await.unwrap().items;
        let place = expected.iter().position(Result::is_err).unwrap();
        let error = expected.remove(place).unwrap_err();
        assert!(error.to_string().contains(&broken.to_string()), "{error}");
        assert!(error.to_string().contains("`epoch`"), "{error}");
        let count = expected.len() + 1;
        for size in 0..=count {
            let mut query = query.clone().limit(size);
            let mut listed = Vec::new();
            loop {
                let page = filled.place.store.list(&query).await.unwrap();
                listed.extend(page.items);
                assert!(listed.len() <= count, "{size} at a time: {query:?} does not end");
                let Some(next) = page.next else { break };
                // A cursor may have been text in between.
                query = query.after(next.to_string().parse().unwrap());
            }
            assert_eq!(listed.len(), count, "{size} at a time: {query:?}");
            assert_eq!(listed.iter().position(Result::is_err), Some(place), "{query:?}");
        }
        let loaded = filled.place.store.load_all::<AnyEgg>(&query).await.unwrap();
        assert_eq!(loaded.items.iter().filter(|egg| egg.is_err()).count(), 1);
        assert_eq!(loaded.items.len(), 8);
    }
}
