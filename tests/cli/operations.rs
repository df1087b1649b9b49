//! `operations`: the operator log, as people read it.

use serde_json::{Value, json};

use crate::surfaces::{Place, end};

#[tokio::test]
async fn operations_are_shown_newest_first() {
    let place = Place::new().await;
    place.run(&["operations"]).done();
    let nothing = json!({ "operations": [], "unreadable": [], "next": Value::Null });
    assert_eq!(place.json(&["operations"]), nothing);
    let (gate, _planned) = place.gate("bob@example.com").await;
    let failed = place.failed("eve@example.com").await;
    let gate = gate.id().to_string();
    place.run(&["approve", &gate, "--as", "ann", "--yes"]).done();
    // Refused operations are recorded, too.
    place.run(&["decline", &gate, "--as", "bob O'Neil", "--yes"]).failed(1, "ann");
    place.run(&["retry", &failed.to_string(), "--as", "cleo", "--yes"]).done();
    let shown = place.run(&["operations"]);
    let rows: Vec<_> = shown.done().lines().skip(2).collect();
    assert_eq!(rows.len(), 3, "{shown:?}");
    assert!(rows[0].contains("cleo") && rows[0].contains(&end(failed)[4..]), "{shown:?}");
    assert!(rows[1].contains("was approved by ann"), "{shown:?}");
    assert!(rows[2].contains("ann") && rows[2].contains("done"), "{shown:?}");

    let first = place.run(&["operations", "--limit", "2"]);
    assert!(first.done().ends_with("There are more; for the next page, pass --after=2\n"));
    place.run(&["operations", "--after", "1"]).shows(&["No operations after"]);
    for wrong in [&["--limit", "0"], &["--limit", "x"], &["--after", "-1"], &["--after", "x"]] {
        place.run(&[&["operations"], &wrong[..]].concat()).failed(2, "");
    }
}

#[tokio::test]
async fn edited_operations_are_reported_and_escaped() {
    let place = Place::new().await;
    let (gate, _) = place.gate("bob@example.com").await;
    let gate = gate.id().to_string();
    let reason = "no\u{1b}[2J\nunreadable: all │ fine";
    place.run(&["decline", &gate, "--as", "ann", "--reason", reason, "--yes"]).done();
    place.run(&["approve", &gate, "--as", "bob", "--yes"]).failed(1, "");
    let raw = rusqlite::Connection::open(place.file()).unwrap();
    raw.execute_batch(
        "DROP TRIGGER operation_keeps_who_and_what; UPDATE operation SET human = 'eve' WHERE no = 1",
    )
    .unwrap();
    drop(raw);
    let shown = place.run(&["operations"]);
    let lines: Vec<_> = shown.done().lines().collect();
    assert_eq!(lines.len(), 4, "{shown:?}");
    assert!(lines[2].contains("bob") && !shown.out.contains("eve"), "{shown:?}");
    assert!(lines[3].starts_with("unreadable: ") && lines[3].contains('1'), "{shown:?}");
    assert!(!shown.out.contains('\u{1b}'));
    assert_eq!(place.json(&["operations"])["unreadable"].as_array().unwrap().len(), 1);
}
