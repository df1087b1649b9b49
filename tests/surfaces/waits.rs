//! What a machine waits for: `show` says it of each machine that has not ended, and the document
//! has the same.

use serde_json::Value;

use super::{Place, situations};

/// The situations, with the cause and the start of its text; both are empty for a machine that has
/// ended.
const TABLE: &str = "
gate         | person   | a person, who can `approve`, `decline`
expired      | person   | a person, who can `cancel`
orphan       | person   | a person, who can `cancel`
stale        | person   | a person, who can `cancel`
withdrawn    |          |
behind       | person   | a person, who answers its gate
pending      | program  | its program, which makes the next move: no worker has ever opened this file
overtaken    | program  | its program, which makes the next move
stale behind | person   | a person, who can `cancel`
running      | call     | the end of its call, which is under way
accepted     | service  | the report of its service, which has accepted it; due
doubt        | person   | a person, who can `confirm`
failed       |          |
failed child |          |
repeated     |          |
sent         |          |
contradicted |          |
question     | person   | a person, who can `respond`, `cancel`
answered     | person   | a person, who can `respond`, `cancel`
order        | person   | a person, who can `confirm`, `cancel`
parent       | child    | its child
set aside    | person   | a person, who can `requeue`, `confirm`, `cancel`
paying       | person   | a person, who can `accept`
ended        |          |
";

#[tokio::test(flavor = "multi_thread")]
async fn each_machine_that_has_not_ended_says_what_it_waits_for() {
    let mut rows = TABLE.trim().lines();
    for situation in situations() {
        let row: Vec<_> = rows.next().unwrap().split('|').map(str::trim).collect();
        assert_eq!(row[0], situation);
        // No worker has driven another one in the same file.
        let place = Place::new().await;
        let id = place.make(situation, 0).await.id.to_string();
        let shown = place.run(&["show", &id]);
        let lines = shown.done().lines().filter_map(|line| line.strip_prefix("waits for "));
        let lines: Vec<_> = lines.map(str::trim_start).collect();
        let waits = place.json(&["show", &id])["waits_for"].take();
        if row[1].is_empty() {
            assert!(lines.is_empty() && waits == Value::Null, "{situation}: {waits}: {shown:?}");
            continue;
        }
        let [line] = *lines else { panic!("{situation}: {shown:?}") };
        assert!(line.starts_with(row[2]), "{situation}: {line}");
        assert_eq!(waits["cause"], row[1], "{situation}: {waits}");
        assert!(line.starts_with(waits["text"].as_str().unwrap()), "{situation}: {waits}");
    }
}
