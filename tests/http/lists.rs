//! Pages of machines, sessions, events and operations. They are large with `MACHINE_LARGE_TESTS`.

use std::collections::BTreeSet;

use machine::contract::Contract;
use machine_tests::{actors::reasoning_node, samples::asked_in};
use serde_json::{Value, json};

use crate::surfaces::{Call, OPERATOR, Order, Place};

/// All pages of a list, one after the other.
async fn pages(place: &Place, path: &str, field: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    let and = if path.contains('?') { '&' } else { '?' };
    loop {
        let page = place.get(&format!("{path}{and}limit=1000{after}")).await;
        all.extend(page[field].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return all,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_lists_have_pages() {
    let is_large = std::env::var_os("MACHINE_LARGE_TESTS").is_some();
    let count = if is_large { 10_000 } else { 2500 };
    let place = Place::served().await;
    for at in (0..count).step_by(250) {
        let mut questions: Vec<_> = (at..at + 250)
            .map(|at| {
                let contract = Contract::ecs_request("Which?", reasoning_node()).unwrap();
                asked_in(contract.session(format!("session {at}")))
            })
            .collect();
        let batch = questions.iter_mut().fold(place.store.batch(), |batch, it| batch.create(it));
        batch.write().await.unwrap();
    }
    let sessions = pages(&place, "/api/sessions", "sessions").await;
    let names: BTreeSet<_> = sessions.iter().map(|it| it["session"].to_string()).collect();
    assert_eq!((sessions.len(), names.len()), (count, count));
    let newest: Vec<_> = pages(&place, "/api/machines", "machines").await;
    let oldest: Vec<_> = pages(&place, "/api/machines?order=oldest", "machines").await;
    let ids = |list: &[Value]| list.iter().map(|it| it["id"].to_string()).collect::<Vec<_>>();
    let mut reversed = ids(&oldest);
    reversed.reverse();
    assert_eq!(ids(&newest).len(), count);
    let (newest, reversed): (BTreeSet<_>, BTreeSet<_>) =
        (ids(&newest).into_iter().collect(), reversed.into_iter().collect());
    assert_eq!(newest, reversed);
    let attention = place.get("/api/attention?limit=10").await;
    assert_eq!(attention["truncated"], true);
    assert_eq!(attention["concerns"].as_array().unwrap().len(), 10);
}

/// The existence of a result would let a caller confirm guessed arguments. With a token it is a
/// filter, as `surfaces::views` says.
#[tokio::test(flavor = "multi_thread")]
async fn a_filter_by_key_needs_a_token() {
    let place = Place::served().await;
    place.read("/api/machines?key=guessed").await.problem(403, "needs a token");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_list_parameters_are_refused() {
    let place = Place::served().await;
    let id = place.question().await;
    for path in "/api/agents /api/machines /api/sessions /api/attention /api/operations \
        /api/approvals"
        .split(' ')
    {
        for query in "limit=0 limit=1001 limit=-1 limit=4294967296 limit=x limit=1e3 limit= \
        unknown=1 limit=1&limit=2"
            .split(' ')
        {
            place.ask(Call::get(&format!("{path}?{query}")).token(OPERATOR)).await.problem(400, "");
        }
    }
    for path in [
        "/api/agents?after=x",
        "/api/machines?after=x",
        "/api/machines?order=random",
        "/api/sessions?after=x",
        "/api/machines?audience=",
        &format!("/api/machines/{id}/timeline?after=-1"),
        &format!("/api/machines/{id}/timeline?limit=0"),
        "/api/machines?after=%00",
    ] {
        place.read(path).await.problem(400, "");
    }
    place.ask(Call::get("/api/operations?after=x").token(OPERATOR)).await.problem(400, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_after_the_end_has_nothing() {
    let place = Place::served().await;
    place.question().await;
    for number in [u64::MAX, u64::MAX / 2, u64::MAX / 2 + 1] {
        for (path, list) in [
            (format!("machines?order=oldest&after=oldest.{number}"), "machines"),
            (format!("sessions?after={number}.0"), "sessions"),
            (format!("operations?after={number}"), "operations"),
        ] {
            let page = place.ask(Call::get(&format!("/api/{path}")).token(OPERATOR)).await.is(200);
            assert_eq!(page[list], json!([]), "{path}");
        }
    }
}

/// The place of one list means nothing in another.
#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_list_is_refused() {
    let place = Place::served().await;
    place.question().await;
    for (path, status) in [
        ("machines?order=oldest&after=newest.1", 409),
        ("machines?order=newest&after=oldest.1", 409),
        ("machines?after=1.1", 400),
        ("machines?after=1", 400),
        ("sessions?after=oldest.1", 400),
        ("operations?after=1.1", 400),
        ("approvals?after=1.1", 400),
        ("approvals?after=newest.1", 409),
    ] {
        let answer = place.ask(Call::get(&format!("/api/{path}")).token(OPERATOR)).await;
        answer.problem(status, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_has_pages() {
    let place = Place::served().await;
    let mut order = Order::new();
    place.store.create(&mut order).await.unwrap();
    let id = order.id();
    let ann = machine_tests::actors::ann();
    for amount in 0..10 {
        let mut paying = order.confirm(amount, Some("card 4111".to_owned()), ann);
        place.store.commit(&mut paying).await.unwrap();
        order = paying.again(machine_tests::actors::graph_runner());
        place.store.commit(&mut order).await.unwrap();
    }
    let whole = place.get(&format!("/api/machines/{id}/timeline")).await;
    let events = whole["events"].as_array().unwrap();
    assert_eq!((events.len(), &whole["total"], &whole["next"]), (21, &json!(21), &Value::Null));
    assert!(!whole.to_string().contains("card 4111"), "{whole}");
    assert!(whole.to_string().contains("\"amount\""), "{whole}");
    let mut paged = Vec::new();
    let mut after = String::new();
    loop {
        let page = place.get(&format!("/api/machines/{id}/timeline?limit=4{after}")).await;
        assert_eq!(page["total"], 21);
        paged.extend(page["events"].as_array().unwrap().iter().cloned());
        match page["next"].as_u64() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(paged, *events);
}
