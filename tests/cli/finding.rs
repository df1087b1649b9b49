//! Filters by what lists show, and errors for names that nothing has.

use machine::{
    Id,
    contract::{Action, AnyExecution, Planned},
};
use machine_tests::actors::tool_node;
use machine_tests::samples::{contradicted, mail, receipt};
use serde_json::Value;

use crate::cli::support::{Place, end};

/// The ids of the machines of a document, in its order.
fn ids(document: &Value) -> Vec<String> {
    let machines = document["machines"].as_array().unwrap().iter();
    machines.map(|machine| machine["id"].as_str().unwrap().to_owned()).collect()
}

impl Place {
    async fn sent(&self, to: &str) -> Id {
        let mut planned = Planned::<Action>::new(mail(to).session("monday")).unwrap();
        self.store.plan(&mut planned).await.unwrap();
        let id = planned.id();
        drop(self.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap());
        id
    }
}

/// F1: before, `--status SUCCESS`, `IN_DOUBT` and `PLACED` matched nothing, with exit code 0.
#[tokio::test]
async fn a_state_is_found_by_what_the_list_shows() {
    let place = Place::new().await;
    let order = place.order().await;
    let done = place.sent("done@example.com").await;
    let doubt = place.doubt("doubt@example.com").await;
    let failed = place.failed("failed@example.com").await;
    let odd = contradicted(&place.store, "odd@example.com").await;
    let (gate, planned) = place.ask("gate@example.com").await;
    for (state, expected) in [
        ("SUCCESS", &[done][..]),
        ("success", &[done]),
        ("completed", &[done]),
        ("IN_DOUBT", &[doubt]),
        ("in_doubt", &[doubt]),
        ("CONTRADICTED", &[odd]),
        ("DEFERRED", &[planned.id()]),
        ("pending", &[planned.id()]),
        // By its name it is every execution in the state.
        ("failed", &[odd, failed]),
        ("Waiting", &[gate.id(), doubt]),
        ("ASKING", &[order]),
        ("asking", &[order]),
    ] {
        let found = place.json(&["list", "--status", state]);
        let expected: Vec<_> = expected.iter().map(Id::to_string).collect();
        assert_eq!(ids(&found), expected, "{state}");
        let concerns = found["attention"]["concerns"].as_array().unwrap();
        for concern in concerns {
            let id = concern["id"].as_str().unwrap();
            assert!(expected.iter().any(|it| it == id), "{state}: {concern}");
        }
    }
    // Pages are whole, although most rows of the state have another label.
    for number in 0..7 {
        drop(place.ask(&format!("{number}@example.com")).await);
    }
    let other = place.doubt("other@example.com").await;
    let first = place.json(&["list", "--status", "IN_DOUBT", "--limit", "1"]);
    assert_eq!(ids(&first), [other.to_string()]);
    let after = format!("--after={}", first["next"].as_str().unwrap());
    let second = place.json(&["list", "--status", "IN_DOUBT", "--limit", "1", &after]);
    assert_eq!(ids(&second), [doubt.to_string()]);
}

/// F3: before, a typo was an empty list, with exit code 0.
#[tokio::test]
async fn a_name_that_nothing_has_is_an_error() {
    let place = Place::new().await;
    place.order().await;
    place.sent("bob@example.com").await;
    for (arguments, text) in [
        (&["--machine", "Order"][..], "there is no kind `Order`; there are `execution`, `order`"),
        (&["--status", "nope"], "there is no state `nope`; there are `ASKING`, `CANCELLED`, "),
        (
            &["--machine", "order", "--status", "SUCCESS"],
            "there is no state `SUCCESS` of `order`; there are `ASKING`, `CANCELLED`, `PAID`, `PAYING`",
        ),
        (&["--session", "mond"], "no machine belongs to the session `mond`; there are `monday`"),
        (&["--status", "UNCONFIRMED"], "there is no state `UNCONFIRMED`"),
    ] {
        let arguments = [&["list"][..], arguments].concat();
        place.run(&arguments).failed(2, text);
    }
    let empty = Place::new().await;
    empty.run(&["list", "--session", "x"]).failed(2, "there is none");
    // Of the library's own kind there may be none yet.
    let none = empty.run(&["list", "--machine", "execution", "--status", "SUCCESS"]);
    assert!(none.done().contains("no machine that matches"), "{none:?}");
    place.run(&["timeline", "--session", "mond"]).failed(2, "`monday`");
    place.run(&["prompt", "--session", "mond"]).failed(2, "`monday`");
}

/// F4: before, the list was oldest first, and could not be turned around.
#[tokio::test]
async fn the_newest_machine_is_first() {
    let place = Place::new().await;
    let mut orders = Vec::new();
    for _ in 0..3 {
        orders.push(place.order().await.to_string());
    }
    let oldest = orders.clone();
    orders.reverse();
    assert_eq!(ids(&place.json(&["list"])), orders);
    assert_eq!(ids(&place.json(&["list", "--order", "oldest"])), oldest);
    let page = place.run(&["list", "--limit", "1", "--order=oldest"]);
    let next = page.done().split("begins with ").nth(1).unwrap().trim().to_owned();
    let arguments: Vec<_> =
        ["list", "--limit", "1", "--json"].into_iter().chain(next.split(' ')).collect();
    let next: Value = serde_json::from_str(place.run(&arguments).done()).unwrap();
    assert_eq!(ids(&next), [oldest[1].clone()]);
    place.run(&["list", "--after=oldest.1"]).failed(1, "order");
}

/// F5: before, attention had one of these four, the gate.
#[tokio::test]
async fn what_cannot_be_read_always_needs_attention() {
    let place = Place::new().await;
    let (gate, _planned) = place.ask("bob@example.com").await;
    let orders = [place.order().await, place.order().await];
    let done = place.sent("bob@example.com").await;
    for number in 0..3 {
        place.sent(&format!("{number}@example.com")).await;
    }
    place.edit(gate.id(), "UPDATE instance SET updated_at = updated_at + 1 WHERE id = ID");
    place.edit(orders[0], "UPDATE instance SET status = 'paid' WHERE id = ID");
    place.edit(orders[1], "UPDATE instance SET status = 'nowhere' WHERE id = ID");
    place.edit(
        done,
        "UPDATE context SET body = replace(body, 'bob', 'eve') WHERE instance = (SELECT no FROM instance WHERE id = ID)",
    );
    place.store.load::<AnyExecution>(done).await.unwrap_err();
    let broken = [gate.id(), orders[0], orders[1], done];
    let attention = place.json(&["list", "--attention-only", "--limit", "1"]);
    let concerns = attention["attention"]["concerns"].as_array().unwrap();
    let unreadable = concerns.iter().filter(|one| one["reason"] == "unreadable");
    let mut unreadable: Vec<_> = unreadable.map(|one| one["id"].as_str().unwrap()).collect();
    let mut expected: Vec<_> = broken.iter().map(Id::to_string).collect();
    unreadable.sort_unstable();
    expected.sort_unstable();
    assert_eq!(unreadable, expected, "{attention:#}");
    let listed = place.run(&["list"]);
    for id in broken {
        assert!(listed.done().contains(&end(id)[4..]), "{id}: {listed:?}");
    }
}
