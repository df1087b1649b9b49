//! The views of executions (OB-11).

use machine::{observe::Observer, view};
use machine_tests::samples::read;
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
async fn the_topology_is_a_constant() {
    let place = Place::served().await;
    let topology = place.read("/api/execution/topology").await.is(200);
    let expected = view::Topology::of(machine::contract::execution::DEFINITION);
    assert_eq!(topology, serde_json::to_value(expected).unwrap());
    place.order().await;
    let all = place.get("/api/definitions").await;
    let order = all["definitions"].as_array().unwrap().iter().find(|it| it["machine"] == "order");
    let fingerprint = order.unwrap()["fingerprint"].as_str().unwrap();
    let shown = place.get(&format!("/api/definitions/{fingerprint}")).await;
    assert_eq!(shown["diagram"]["nodes"].as_array().unwrap().len(), 4);
    assert_eq!(shown["topology"]["initial_status"], "asking");
    place.read("/api/definitions/nothing").await.problem(404, "nothing");
}
