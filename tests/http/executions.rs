//! The views of executions (OB-11).

use machine::{observe::Observer, view};
use machine_tests::samples::{mail, read};
use serde_json::json;

use crate::surfaces::{Place, unknown};

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_is_that_of_the_library() {
    let place = Place::served().await;
    let observer = Observer::new(&place.store);
    for id in [
        place.question().await,
        place.doubt("bob@example.com").await,
        place.sent(read("/etc/hosts")).await,
    ] {
        let mut found = place.get(&format!("/api/execution/{id}/snapshot")).await;
        let mut expected =
            serde_json::to_value(observer.execution::<view::Human>(id).await.unwrap()).unwrap();
        for snapshot in [&mut found, &mut expected] {
            snapshot["duration_in_state_ms"] = 0.into();
        }
        assert_eq!(found, expected);
        let detail = place.get(&format!("/api/machines/{id}")).await;
        assert_eq!(detail["execution"]["execution_id"], json!(id));
    }
    place.read(&format!("/api/execution/{}/snapshot", unknown())).await.problem(404, "");
    let order = place.order().await;
    place.read(&format!("/api/execution/{order}/snapshot")).await.problem(404, "not an execution");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_a_timeline_after_it_has_ended() {
    let place = Place::served().await;
    let session = "meeting with Bob / a–z?";
    let sent = place.sent(mail("bob@example.com").session(session)).await;
    let read = place.sent(read("/etc/hosts").session(session)).await;
    place.sent(mail("ann@example.com").session("another")).await;
    let encoded = "meeting%20with%20Bob%20%2F%20a%E2%80%93z%3F";
    let timeline = place.get(&format!("/api/execution/{encoded}/timeline")).await;
    assert_eq!(timeline["session_id"], session);
    let ids: Vec<_> =
        timeline["contracts"].as_array().unwrap().iter().map(|it| &it["execution_id"]).collect();
    assert_eq!(ids, [&json!(sent), &json!(read)]);
    assert_eq!(
        (
            &timeline["total_contracts"],
            &timeline["terminal_contracts"],
            &timeline["active_contracts"]
        ),
        (&json!(2), &json!(2), &json!(0))
    );
    assert_eq!(timeline["has_irreversible_completed"], true);
    assert!(timeline["ended_at"].is_i64() && timeline["started_at"].is_i64());
    let sessions = place.get("/api/sessions").await;
    assert_eq!(sessions["sessions"][1]["session"], session, "{sessions}");
    assert_eq!(sessions["sessions"][1]["machines"], 2, "{sessions}");
    let transitions = timeline["transitions"].as_array().unwrap();
    assert_eq!(transitions.len(), 4);
    let expected = json!({
        "execution_id": sent, "sequence_number": 0, "from_status": "pending",
        "to_status": "running", "trigger": "start", "actor_category": "tool",
        "timestamp": transitions[0]["timestamp"], "is_terminal_transition": false,
    });
    assert_eq!(transitions[0], expected);
    place.read("/api/execution/nothing/timeline").await.problem(404, "session");
    let long = "x".repeat(5000);
    place.read(&format!("/api/execution/{long}/timeline")).await.problem(400, "too long");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_topology_is_a_constant() {
    let place = Place::served().await;
    let topology = place.read("/api/execution/topology").await.is(200);
    let expected = view::Topology::of(machine::contract::execution::DEFINITION);
    assert_eq!(topology, serde_json::to_value(expected).unwrap());
    assert_eq!(topology["forbidden_transitions"].as_array().unwrap().len() + 8, 49);
    place.read("/api/topology/order").await.problem(404, "order");
    place.order().await;
    assert_eq!(place.get("/api/topology/order").await["initial_status"], "asking");
    let all = place.get("/api/definitions").await;
    let order = all["definitions"].as_array().unwrap().iter().find(|it| it["machine"] == "order");
    let fingerprint = order.unwrap()["fingerprint"].as_str().unwrap();
    let shown = place.get(&format!("/api/definitions/{fingerprint}")).await;
    assert_eq!(shown["diagram"]["nodes"].as_array().unwrap().len(), 4);
    let svg = place.read(&format!("/api/definitions/{fingerprint}/diagram.svg")).await;
    assert!(svg.body.starts_with("<svg"), "{svg:?}");
    assert_eq!(svg.header("content-type"), Some("image/svg+xml"));
    assert!(svg.header("content-security-policy").unwrap().contains("sandbox"));
    place.read("/api/definitions/nothing").await.problem(404, "nothing");
}
