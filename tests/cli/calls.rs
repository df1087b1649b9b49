//! The calls that machines made by entering their states, in `list`, `show` and `timeline`.

use machine_tests::{
    actors::ann,
    invoked::{AnyPurchase, asked, begun, doubtful, placed, purchase::Event, reading, send},
};

use crate::surfaces::{Place, end};

#[tokio::test]
async fn a_list_says_what_calls_do() {
    let place = Place::new().await;
    let (asking, _) = asked(&place.store, 1).await;
    let (doubt, call) = placed(&place.store, 2).await;
    doubtful(&place.store, call).await;
    let (running, call) = placed(&place.store, 3).await;
    let permit = begun(&place.store, call).await;
    reading(&place.store, 3).await;

    place.run(&["list", "--machine", "purchase"]).shows(&[
        "ASKING (asked)",
        "PAYING (in doubt)",
        "PAYING (running)",
        "READING (3 not begun)",
    ]);
    for (stage, id) in [("asked", asking), ("in_doubt", doubt), ("running", running)] {
        let found = place.json(&["list", "--calls", stage]);
        let machines = found["machines"].as_array().unwrap();
        let ids: Vec<_> = machines.iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(ids, [id.to_string()], "{stage}");
        assert_eq!(machines[0]["calls"]["stages"][0]["stage"], stage);
        assert_eq!(machines[0]["label"], machines[0]["status"].as_str().unwrap().to_uppercase());
    }
    place.run(&["list", "--calls", "ended"]).failed(2, "possible values");
    drop(permit);
}

#[tokio::test]
async fn a_machine_shows_its_calls_and_what_waits_for_them() {
    let place = Place::new().await;
    let (id, call) = placed(&place.store, 2).await;
    doubtful(&place.store, call).await;
    send(&place.store, id, &Event::Cancel, ann()).await;
    place.run(&["show", &end(id)]).shows(&[
        "state        PAYING (in doubt)",
        "payment 0",
        "moves out of the state wait for it",
        "it waits for `payment` (in doubt)",
        &call.to_string(),
    ]);
    place.run(&["timeline", &end(id)]).shows(&["state        PAYING (in doubt)"]);

    let (id, _) = asked(&place.store, 3).await;
    let shown = place.json(&["show", &end(id)]);
    let gate = shown["call_list"][0]["gate"].as_str().unwrap();
    place.run(&["show", &end(id)]).shows(&[&format!("a person, who answers its gate {gate}")]);
}

#[tokio::test]
async fn a_topology_lists_calls() {
    let place = Place::new().await;
    asked(&place.store, 1).await;
    place.run(&["topology", "purchase"]).shows(&[
        "payment: Charge, approve",
        "bank.charge",
        "done = paid, failed = refused",
        "within = Duration::from_secs(10)",
        "detaches its calls",
    ]);
    // The calls of other kinds.
    let ran = place.run(&["topology", "execution"]);
    assert!(ran.done().contains("after = context.answer_limit()"), "{ran:?}");
    assert!(!ran.done().contains("Calls"), "{ran:?}");
}

/// An approval is not the outcome of the call: the person who gave it finds that the call was
/// withdrawn, and why.
#[tokio::test]
async fn an_approved_call_that_was_withdrawn_says_why() {
    let place = Place::new().await;
    let (id, call) = asked(&place.store, 1).await;
    let shown = place.json(&["show", &end(id)]);
    let gate = shown["call_list"][0]["gate"].as_str().unwrap();
    place.run(&["approve", gate, "--as", "dora", "--yes"]).done();
    let AnyPurchase::Asking(asking) = place.store.load(id).await.unwrap() else {
        panic!("it has moved")
    };
    place.store.commit(&mut asking.cancel(ann())).await.unwrap();
    let call = call.to_string();
    place.run(&["timeline", &end(id)]).shows(&["(cancel)"]);
    let why = "a person moved the purchase to `cancelled` by `cancel` before the call began";
    place.run(&["show", &call]).shows(&["CANCELLED", why]);
    place.run(&["timeline", &call]).shows(&["(cancel)", why]);
}
