//! Children, gates of children, and what gates let run.

use machine::contract::Action;
use machine_tests::{
    actors::{ecs_node, tool_node},
    samples::{answers, mail, receipt},
};
use serde_json::json;

use crate::http::support::{Place, shown};

const APPROVE: &str = "/api/approvals/approve";

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_names_the_gate_of_its_child() {
    let place = Place::new().await;
    let id = place.order().await;
    let (mut gate, mut planned) = mail("bob@example.com").ask::<Action>(None, ecs_node()).unwrap();
    let batch = place.store.batch().create(gate.machine());
    batch.create_child(id, planned.machine()).write().await.unwrap();
    let (of, child) = (gate.id(), planned.id());

    let detail = place.get(&format!("/api/machines/{id}")).await;
    let open = &detail["children"][0]["open"];
    assert_eq!((&open["label"], &open["gate"]), (&json!("DEFERRED"), &json!(of)), "{detail}");
    assert_eq!(open["next"][0]["do"], "approve", "{detail}");
    let body = json!({ "gates": [{ "id": id, "digest": shown(&gate)["digest"] }] });
    let problem = place.post(APPROVE, &body).await.problem(409, "");
    assert!(problem["detail"].as_str().unwrap().contains(&format!("approve {of}")), "{problem}");

    place.post(APPROVE, &json!({ "gates": [shown(&gate)] })).await.is(200);
    let refused = answers(Err(machine::contract::NotDone::not_applied("mailbox full")));
    drop(place.store.perform(planned, refused, tool_node()).await.unwrap());
    let problem =
        place.post(&format!("/api/machines/{child}/retry"), &json!({})).await.problem(409, "");
    let said = problem["detail"].as_str().unwrap();
    assert!(said.contains(&format!("{child} is a child of {id}")), "{problem}");
    assert_eq!(problem["next"][0]["id"], json!(id), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gates_let_run_is_listed() {
    let place = Place::new().await;
    let (_open, deferred) = place.gate("a@example.com").await;
    let (approved, released) = place.gate("b@example.com").await;
    let (declined, refused) = place.gate("c@example.com").await;
    place.post(APPROVE, &json!({ "gates": [shown(&approved)] })).await.is(200);
    let body = json!({ "gates": [declined.id()] });
    place.post("/api/approvals/decline", &body).await.is(200);
    for (release, planned) in [("deferred", deferred), ("released", released), ("refused", refused)]
    {
        let listed = place.get(&format!("/api/machines?release={release}")).await;
        assert_eq!(listed["machines"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["machines"][0]["id"], json!(planned.id()), "{listed}");
        let of = format!("/api/execution/{}/snapshot", planned.id());
        assert_eq!(place.get(&of).await["release"], release);
    }
    place.read("/api/machines?release=other").await.problem(400, "");
}

/// Two questions about one mail: once it was sent, the other is no longer asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_for_what_was_done_is_not_offered() {
    let place = Place::new().await;
    let (first, planned) = place.gate("bob@example.com").await;
    let (second, _other) = place.gate("bob@example.com").await;
    place.post(APPROVE, &json!({ "gates": [shown(&first)] })).await.is(200);
    drop(place.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap());
    let listed = place.get("/api/approvals").await;
    let one = &listed["approvals"][0];
    assert_eq!(one["gate"], json!(second.id()), "{listed}");
    assert!(one["stale"].as_str().unwrap().contains("approved by ann"), "{listed}");
    assert_eq!(one["next"].as_array().unwrap().len(), 1, "{listed}");
    let problem = place.post(APPROVE, &json!({ "gates": [shown(&second)] })).await;
    problem.problem(409, "has already done the same");
}
