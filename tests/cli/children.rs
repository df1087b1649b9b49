//! A machine may wait for a child: its gate, its question, a worker.

use machine::{
    Id,
    actor::Actors,
    contract::{Action, Gate, Planned, Settled},
    view::Label,
    worker::Worker,
};
use machine_tests::{
    actors::{ecs_node, tool_node},
    samples::{answers, mail},
};
use serde_json::json;

use crate::cli::{
    concerns::Waits,
    support::{Order, Place, end},
};

/// An order whose mail waits behind a gate.
async fn order(place: &Place) -> (Id, Gate, Planned<Action>) {
    let mut order = Order::new();
    let (mut gate, mut planned) = mail("bob@example.com").ask(None, ecs_node()).unwrap();
    let id = order.id();
    let batch = place.store.batch().create(&mut order).create(gate.machine());
    batch.create_child(id, planned.machine()).write().await.unwrap();
    (id, gate, planned)
}

#[tokio::test]
async fn a_parent_names_the_gate_of_its_child() {
    let place = Place::new().await;
    let (id, gate, planned) = order(&place).await;
    let (of, child) = (gate.id(), planned.id());
    let shown = place.json(&["show", &end(id)]);
    let one = &shown["children"][0];
    assert_eq!((&one["id"], &one["has_ended"]), (&json!(child), &json!(false)), "{shown}");
    let open = &one["open"];
    assert_eq!((&open["label"], &open["gate"]), (&json!("DEFERRED"), &json!(of)), "{shown}");
    assert!(open["question"].as_str().unwrap().starts_with("Allow email.send?"), "{shown}");
    let text = place.run(&["show", &end(id)]);
    for part in ["DEFERRED", &format!("its gate {of}"), &format!("approve {of} --as NAME")] {
        assert!(text.done().contains(part), "{part}: {text:?}");
    }
    assert_eq!(place.json(&["show", &end(child)])["parent"], json!(id));

    // The person who takes the parent for the gate is told which one it is.
    let refused = place.run(&["approve", &end(id), "--as", "ann", "--yes"]);
    refused.failed(1, &format!("`approve {of} --as NAME`"));
    place.run(&["approve", &end(of), "--as", "ann", "--yes"]).done();
    let worker = Worker::new(&place.store, Actors::issue("shop").unwrap()).handler(Waits);
    worker.run_until_idle().await.unwrap();
    let shown = place.json(&["show", &end(id)]);
    let open = &shown["children"][0]["open"];
    assert_eq!((&open["label"], &open["gate"]), (&json!("NOT_STARTED"), &json!(null)), "{shown}");
    // No worker has its tool.
    assert!(open["missing"].as_str().unwrap().contains("email.send"), "{shown}");
}

#[tokio::test]
async fn a_child_is_not_tried_again_behind_its_parent() {
    let place = Place::new().await;
    let (id, gate, planned) = order(&place).await;
    let of = gate.id();
    place.run(&["approve", &end(of), "--as", "ann", "--yes"]).done();
    let child = planned.id();
    let refused = answers(Err(machine::contract::NotDone::not_applied("mailbox full")));
    let settled = place.store.perform(planned, refused, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)), "{settled:?}");
    let tried = place.run(&["retry", &end(child), "--as", "ann", "--yes"]);
    tried.failed(1, &format!("{child} is a child of {id}"));
    tried.failed(1, &format!("`show {id}`"));
    assert_eq!(place.label(child).await, Label::Failed);
    let shown = place.json(&["show", &end(child)]);
    assert_eq!(
        shown["next"],
        json!([{ "do": "show", "id": id, "command": format!("show {id}") }]),
        "{shown}"
    );
    let listed = place.json(&["list", "--machine", "execution"]);
    assert_eq!(listed["machines"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test]
async fn lists_tell_what_gates_let_run() {
    let place = Place::new().await;
    let (_open, deferred) = place.ask("a@example.com").await;
    let (approved, released) = place.ask("b@example.com").await;
    let (declined, refused) = place.ask("c@example.com").await;
    place.run(&["approve", &end(approved.id()), "--as", "ann", "--yes"]).done();
    place.run(&["decline", &end(declined.id()), "--as", "ann", "--yes"]).done();
    for (release, id) in [("deferred", &deferred), ("released", &released), ("refused", &refused)] {
        let listed = place.json(&["list", "--release", release]);
        let machines = listed["machines"].as_array().unwrap();
        assert_eq!(machines.len(), 1, "{listed}");
        assert_eq!(
            (&machines[0]["id"], &machines[0]["release"]),
            (&json!(id.id()), &json!(release))
        );
    }
    place.order().await;
    let other = place.run(&["list", "--release", "deferred", "--machine", "order"]);
    other.failed(1, "only executions of the library have gates");
}

/// Two questions about one mail: once it was sent, the other is no longer asked.
#[tokio::test]
async fn a_gate_for_what_was_done_is_not_offered() {
    let place = Place::new().await;
    let (first, planned) = place.ask("bob@example.com").await;
    let (second, _other) = place.ask("bob@example.com").await;
    place.run(&["approve", &end(first.id()), "--as", "ann", "--yes"]).done();
    let by = planned.id();
    let sent = machine_tests::samples::receipt("250 queued");
    drop(place.store.perform(planned, sent, tool_node()).await.unwrap());
    let id = second.id();
    let refused = place.run(&["approve", &end(id), "--as", "bea", "--yes"]);
    refused.failed(1, &format!("{id} can no longer be approved: {by} has already done the same"));
    refused.failed(1, "approved by ann");
    let shown = place.json(&["show", &end(id)]);
    assert!(shown["stale"].as_str().unwrap().contains("approved by ann"), "{shown}");
    assert_eq!(
        shown["next"],
        json!([{ "do": "cancel", "id": id, "command": format!("cancel {id} --as NAME") }]),
        "{shown}"
    );
}
