//! The calls that machines made by entering their states.

use machine_tests::invoked::{asked, doubtful, placed};
use serde_json::json;

use crate::surfaces::Place;

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_machines_have_the_stages_of_their_calls() {
    let place = Place::served().await;
    let (asking, _) = asked(&place.store, 1).await;
    let (doubt, call) = placed(&place.store, 2).await;
    doubtful(&place.store, call).await;

    for (stage, id, label) in
        [("asked", asking, "ASKING (asked)"), ("in_doubt", doubt, "PAYING (in doubt)")]
    {
        let found = place.get(&format!("/api/machines?calls={stage}")).await;
        let machines = found["machines"].as_array().unwrap();
        assert_eq!(machines.len(), 1, "{found}");
        assert_eq!(machines[0]["id"], id.to_string());
        assert_eq!(machines[0]["calls"]["label"], label);
        assert_eq!(machines[0]["calls"]["stages"], json!([{ "stage": stage, "count": 1 }]));

        let shown = place.get(&format!("/api/machines/{id}")).await;
        assert_eq!(shown["calls"], machines[0]["calls"]);
        assert_eq!(shown["call_list"][0]["stage"], stage);
        assert_eq!(shown["call_list"][0]["name"], "payment");
        let timeline = place.get(&format!("/api/machines/{id}/timeline")).await;
        assert_eq!(timeline["calls"], shown["calls"]);
    }
    let none = place.get("/api/machines?calls=running").await;
    assert_eq!(none["machines"], json!([]));
}
