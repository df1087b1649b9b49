//! What a machine waits for: `show` says it of each machine that has not ended, and the document
//! has the same.

use serde_json::Value;

use super::{Place, act_table::situation_rows};

#[tokio::test(flavor = "multi_thread")]
async fn each_machine_that_has_not_ended_says_what_it_waits_for() {
    for [situation, _, cause, text] in situation_rows() {
        // No worker has driven another one in the same file.
        let place = Place::new().await;
        let id = place.make(situation, 0).await.id.to_string();
        let shown = place.run(&["show", &id]);
        let lines = shown.done().lines().filter_map(|line| line.strip_prefix("waits for "));
        let lines: Vec<_> = lines.map(str::trim_start).collect();
        let waits = place.json(&["show", &id])["waits_for"].take();
        if cause.is_empty() {
            assert!(lines.is_empty() && waits == Value::Null, "{situation}: {waits}: {shown:?}");
            continue;
        }
        let [line] = *lines else { panic!("{situation}: {shown:?}") };
        assert!(line.starts_with(text), "{situation}: {line}");
        assert_eq!(waits["cause"], cause, "{situation}: {waits}");
        assert!(line.starts_with(waits["text"].as_str().unwrap()), "{situation}: {waits}");
    }
}
