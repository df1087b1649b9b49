//! Lists: filters, and what a line says.

use std::time::Duration;

use machine::{
    clock::Millis,
    contract::{AnyExecution, Execution},
    store::{Line, LoadError, Query, Store},
};
use machine_tests::{assert_err, samples::mail};

use crate::store::{
    filled::{AnyEgg, Filled},
    support::{Place, lines, on_both},
};

on_both! {
    each_filter_selects_what_it_says,
    filters_narrow_each_other,
    load_all_is_load_one_by_one,
    an_unknown_name_selects_nothing,
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

    // Nothing is old by the real clock; by the store's, everything is after a day.
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

/// A filter, and what it selects at a time.
type Filter = (fn(Query) -> Query, fn(&Line, Millis) -> bool);

/// Every pair of filters selects what both select.
async fn filters_narrow_each_other(place: Place) {
    let filled = Filled::new(place).await;
    filled.at(2000);
    let key = mail("bob").idempotency_key().unwrap().to_string();
    let filters: [Filter; 5] = [
        (|query| query.machine("execution"), |line, _| line.machine == "execution"),
        (|query| query.machine("egg"), |line, _| line.machine == "egg"),
        (|query| query.status("waiting"), |line, _| line.status == "waiting"),
        (|query| query.session("s0"), |line, _| line.session.as_deref() == Some("s0")),
        (|query| query.due(), |line, now| line.due_at.is_some_and(|at| at <= now)),
    ];
    let now = filled.place.store.now();
    for (at, (narrow, first)) in filters.iter().enumerate() {
        for (also, second) in &filters[at..] {
            // A later filter of the same kind replaces the first one.
            if std::ptr::fn_addr_eq(*narrow, filters[0].0)
                && std::ptr::fn_addr_eq(*also, filters[1].0)
            {
                continue;
            }
            let query = also(narrow(Query::new()));
            filled.selects(query.clone(), |line| first(line, now) && second(line, now)).await;
            let query = query.key(&key);
            let is_of_key = |line: &Line| line.key.as_ref() == Some(&key);
            filled
                .selects(query, |line| is_of_key(line) && first(line, now) && second(line, now))
                .await;
        }
    }
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

async fn an_unknown_name_selects_nothing(place: Place) {
    let filled = Filled::new(place).await;
    for query in [
        Query::new().machine("nobody"),
        Query::new().machine(""),
        Query::new().status("%"),
        Query::new().session("'; DROP TABLE instance; --"),
        Query::new().key("\0"),
        Query::new().behind(Execution::new(mail("x")).id()),
    ] {
        assert_eq!(filled.place.lines(&query).await, [], "{query:?}");
    }
    assert!(!filled.all().await.is_empty());
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
    let nobody = Execution::new(mail("x")).id();
    assert_err!(place.store.json(nobody).await, LoadError::NotFound { id } if *id == nobody);
}

/// A row that cannot be read is an error at its position, whatever the query and the size of its pages,
/// and the pages end.
#[tokio::test]
async fn a_broken_row_is_named_in_its_place() {
    let filled = Filled::new(Place::new().await).await;
    filled.at(5000);
    let due = filled.place.lines(&Query::new().due()).await;
    let broken = due[3].id;
    assert_eq!(filled.place.edit("UPDATE instance SET epoch = -1 WHERE id = ?1", broken), 1);
    for query in [Query::new(), Query::new().machine("egg"), Query::new().due()] {
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
                query = query.after(next);
            }
            assert_eq!(listed.len(), count, "{size} at a time: {query:?}");
            assert_eq!(listed.iter().position(Result::is_err), Some(place), "{query:?}");
        }
        let loaded = filled.place.store.load_all::<AnyEgg>(&query).await.unwrap();
        assert_eq!(loaded.items.iter().filter(|egg| egg.is_err()).count(), 1);
        assert_eq!(loaded.items.len(), 8);
    }
}

/// Two stores on one file list the same.
#[tokio::test]
async fn another_store_on_the_file_lists_the_same() {
    let filled = Filled::new(Place::new().await).await;
    let other: Store = filled.place.open_again().await;
    assert_eq!(lines(&other, &Query::new().limit(7)).await, filled.all().await);
}
