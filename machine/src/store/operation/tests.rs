//! The operator log of a file. What both backends keep is in the conformance suite.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use rusqlite::{Connection, params};

use super::*;
use crate::store::options::OpenOptions;

struct Place {
    folder: tempfile::TempDir,
    store: Store,
}

impl Place {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = options().sqlite(folder.path().join("agent.db")).await.unwrap();
        Self { folder, store }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    /// Runs a statement without the triggers of the file.
    fn edit(&self, sql: &str) {
        let raw = Connection::open(self.file()).unwrap();
        let find = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
        let triggers: Vec<(String, String)> = {
            let mut select = raw.prepare(find).unwrap();
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.collect::<rusqlite::Result<_>>().unwrap()
        };
        for (name, _) in &triggers {
            raw.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        assert_eq!(raw.execute(sql, []).unwrap(), 1, "{sql}");
        for (_, sql) in &triggers {
            raw.execute_batch(sql).unwrap();
        }
    }

    /// The problems that verification finds.
    async fn problems(&self) -> Vec<String> {
        let report = self.store.verify_all(|_| {}).await.unwrap();
        report.problems.into_iter().map(|problem| problem.reason).collect()
    }

    async fn logs(&self, name: &str) {
        self.store.operation(operation(name)).await.unwrap();
    }
}

fn options() -> OpenOptions {
    OpenOptions::new().key([3; 32])
}

fn operation(name: &str) -> Operation {
    Operation {
        number: 0,
        at: 0,
        by: "ann@example.com".to_owned(),
        via: "cli".to_owned(),
        operation: name.to_owned(),
        machines: vec![Id::fresh(), Id::fresh()],
        detail: "reason: wrong address".to_owned(),
        outcome: Some("done".to_owned()),
    }
}

async fn all(store: &Store) -> Vec<Operation> {
    let page = store.operations(usize::MAX, None).await.unwrap();
    assert!(page.next.is_none());
    page.items.into_iter().map(Result::unwrap).collect()
}

#[tokio::test]
async fn operations_are_in_the_file_and_in_its_backup() {
    let place = Place::new().await;
    let approve = operation("approve");
    let at = place.store.now();
    place.store.operation(approve.clone()).await.unwrap();
    place.logs("retry").await;

    let found = all(&place.store).await;
    assert!(found[1].at >= at);
    assert_eq!(found[1], approve.numbered(1, found[1].at));
    assert_eq!(found[1].outcome.as_deref(), Some("done"));
    assert_eq!((found[0].number, found[0].operation.as_str()), (2, "retry"));

    let copy = place.folder.path().join("copy.db");
    place.store.backup(&copy, |_| {}).await.unwrap();
    assert_eq!(all(&options().read_only(&copy).await.unwrap()).await, found);
    place.store.close().await.unwrap();
    let again = options().sqlite(place.file()).await.unwrap();
    assert_eq!(all(&again).await, found);
    assert!(again.verify_all(|_| {}).await.unwrap().is_clean());
}

#[tokio::test]
async fn pages_end() {
    let place = Place::new().await;
    for _ in 1..=5 {
        place.logs("approve").await;
    }
    let (mut numbers, mut after) = (Vec::new(), None);
    loop {
        let page = place.store.operations(2, after).await.unwrap();
        numbers.extend(page.items.into_iter().map(|found| found.unwrap().number));
        after = page.next;
        if after.is_none() {
            break;
        }
        // Operations that come in between are on none of the pages that follow.
        place.logs("later").await;
    }
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    assert_eq!(place.store.operations(0, None).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn long_texts_are_cut() {
    let place = Place::new().await;
    for text in ["é".repeat(5000), "x".repeat(MAX_BYTES + 1), "x".repeat(MAX_BYTES)] {
        let (detail, outcome) = (text.clone(), Some(text.clone()));
        let long = Operation { detail, outcome, ..operation("send") };
        place.store.operation(long).await.unwrap();
        let found = all(&place.store).await.swap_remove(0);
        assert_eq!(found.outcome.as_ref(), Some(&found.detail));
        if text.len() <= MAX_BYTES {
            assert_eq!(found.detail, text);
        } else {
            assert!((MAX_BYTES - 1..=MAX_BYTES).contains(&found.detail.len()));
            assert!(text.starts_with(found.detail.strip_suffix('…').unwrap()));
        }
    }
}

/// Each column is covered by the seal, and one row that was changed does not hide the others.
#[tokio::test]
async fn an_edit_is_reported_at_its_entry() {
    for edit in [
        "at = at + 1",
        "human = 'bob'",
        "via = 'http'",
        "name = 'decline'",
        "machines = x''",
        "machines = x'01'",
        "detail = ''",
        "outcome = 'refused'",
        "outcome = NULL",
        "seal = zeroblob(32)",
        "seal = x''",
    ] {
        let place = Place::new().await;
        for name in ["first", "second", "third"] {
            place.logs(name).await;
        }
        place.edit(&format!("UPDATE operation SET {edit} WHERE no = 2"));
        let page = place.store.operations(9, None).await.unwrap();
        let intact: Vec<_> = page.items.iter().map(Result::is_ok).collect();
        assert_eq!(intact, [true, false, true], "{edit}");
        let error = page.items[1].as_ref().unwrap_err().to_string();
        assert!(error.contains("operation 2"), "{edit}: {error}");
        let problems = place.problems().await;
        assert!(problems.len() == 1 && problems[0].contains("operation 2"), "{problems:?}");
    }
}

#[tokio::test]
async fn verification_notices_what_is_missing() {
    for (sql, expected) in [
        ("DELETE FROM operation WHERE no = 1", "operation 1 is missing from the operator log"),
        ("DELETE FROM operation WHERE no = 2", "operation 2 is missing from the operator log"),
        ("UPDATE operation SET no = 9 WHERE no = 3", "6 operations are missing from 3 on"),
        (
            "UPDATE operation SET no = -1 WHERE no = 2",
            "operation 2 is missing from the operator log",
        ),
        (
            "UPDATE operation SET no = -9223372036854775808 WHERE no = 2",
            "operation 2 is missing from the operator log",
        ),
        (
            "UPDATE operation SET no = 9223372036854775807 WHERE no = 3",
            "9223372036854775804 operations are missing from 3 on",
        ),
    ] {
        let place = Place::new().await;
        for name in ["first", "second", "third"] {
            place.logs(name).await;
        }
        place.edit(sql);
        let problems = place.problems().await;
        assert!(problems.iter().any(|problem| problem == expected), "{problems:?}");
        // The log still accepts operations.
        place.store.operation(operation("fourth")).await.unwrap();
        assert!(!place.problems().await.is_empty());
    }
}

#[tokio::test]
async fn the_file_refuses_to_change_the_log() {
    let place = Place::new().await;
    place.logs("approve").await;
    let before = all(&place.store).await;
    let raw = Connection::open(place.file()).unwrap();
    for sql in [
        "DELETE FROM operation",
        "UPDATE operation SET human = 'bob'",
        "UPDATE operation SET no = 5",
        "UPDATE operation SET outcome = NULL",
        "INSERT OR REPLACE INTO operation SELECT * FROM operation",
    ] {
        let refused = raw.execute(sql, params![]).unwrap_err().to_string();
        assert!(refused.contains("on record for good"), "{sql}: {refused}");
    }
    assert_eq!(all(&place.store).await, before);
}
