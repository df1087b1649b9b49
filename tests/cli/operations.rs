//! `operations`: the operator log.

use serde_json::{Value, json};

use crate::cli::support::{Place, end};

#[tokio::test]
async fn who_did_what_is_shown_newest_first() {
    let place = Place::new().await;
    place.run(&["operations"]).done();
    assert_eq!(
        place.json(&["operations"]),
        json!({ "operations": [], "unreadable": [], "next": null })
    );
    let (gate, planned) = place.ask("bob@example.com").await;
    let failed = place.failed("eve@example.com").await;
    let gate = gate.id().to_string();
    place.run(&["approve", &gate, "--as", "ann", "--yes"]).done();
    // Refused operations are recorded, too.
    place.run(&["decline", &gate, "--as", "bob O'Neil", "--yes"]).failed(1, "ann");
    place.run(&["retry", &failed.to_string(), "--as", "cleo", "--yes"]).done();

    let all = place.json(&["operations"]);
    let listed = all["operations"].as_array().unwrap();
    let of = |name: &str| listed.iter().map(|it| it[name].clone()).collect::<Vec<Value>>();
    assert_eq!(of("operation"), ["retry", "decline", "approve"]);
    assert_eq!(of("by"), ["cleo", "bob O'Neil", "ann"]);
    assert_eq!(of("via"), ["cli", "cli", "cli"]);
    assert_eq!(of("number"), [3, 2, 1]);
    assert_eq!(listed[2]["machines"], json!([gate]));
    assert_eq!((&all["next"], &all["unreadable"]), (&Value::Null, &json!([])));

    let shown = place.run(&["operations"]);
    let rows: Vec<_> = shown.done().lines().skip(2).collect();
    assert_eq!(rows.len(), 3, "{shown:?}");
    assert!(rows[0].contains("cleo") && rows[0].contains(&end(failed)[4..]), "{shown:?}");
    assert!(rows[1].contains("was approved by ann"), "{shown:?}");
    assert!(rows[2].contains("ann") && rows[2].contains("done"), "{shown:?}");
    drop(planned);
}

#[tokio::test]
async fn the_log_has_pages() {
    let place = Place::new().await;
    let (gate, _) = place.ask("bob@example.com").await;
    for person in ["ann", "bob", "cleo", "dora", "eve"] {
        let _ = place.run(&["approve", &gate.id().to_string(), "--as", person, "--yes"]);
    }
    let (mut seen, mut after) = (Vec::new(), Vec::new());
    loop {
        let after_it: Vec<&str> = after.iter().map(String::as_str).collect();
        let page = place.json(&[&["operations", "--limit", "2"], &*after_it].concat());
        let listed = page["operations"].as_array().unwrap();
        seen.extend(listed.iter().map(|it| it["by"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => after = vec!["--after".to_owned(), next.to_owned()],
            None => break,
        }
    }
    assert_eq!(seen, ["eve", "dora", "cleo", "bob", "ann"]);
    let first = place.run(&["operations", "--limit", "2"]);
    assert!(first.done().ends_with("There are more; the next page begins with --after=4\n"));
    assert!(place.run(&["operations", "--after", "1"]).done().contains("no operations after"));
    for wrong in [&["--limit", "0"], &["--limit", "x"], &["--after", "-1"], &["--after", "x"]] {
        place.run(&[&["operations"], &wrong[..]].concat()).failed(2, "");
    }
}

#[tokio::test]
async fn what_was_changed_is_named_and_cannot_break_out() {
    let place = Place::new().await;
    let (gate, _) = place.ask("bob@example.com").await;
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
