//! Files whose triggers, indexes or identity were edited by hand.

use machine::store::{OpenError, Store};
use machine_tests::{assert_err, samples::mail};

use crate::store::support::Place;

/// The problems that `verify_all` finds in a file after an edit, which keeps the store usable.
async fn problems(edit: &str) -> Vec<String> {
    let place = Place::new().await;
    let _ = place.stored(mail("bob")).await;
    place.raw().execute_batch(edit).unwrap();
    let report = place.open_again().await.verify_all(|_| ()).await.unwrap();
    report.problems.into_iter().map(|problem| problem.reason).collect()
}

#[tokio::test]
async fn a_new_file_is_as_it_was_made() {
    assert!(problems("SELECT 1").await.is_empty());
    // Additions of SQLite itself, and tables of others, are no edits.
    assert!(problems("ANALYZE; CREATE TABLE notes (text)").await.is_empty());
}

#[tokio::test]
async fn edits_of_triggers_and_indexes_are_noticed() {
    for (edit, problem) in [
        (
            "CREATE TRIGGER mine AFTER INSERT ON attempt
             BEGIN UPDATE attempt SET hold = 3 WHERE no = NEW.no; END",
            "the trigger `mine` was added",
        ),
        (
            "DROP TRIGGER attempt_is_kept;
             CREATE TRIGGER attempt_is_kept AFTER INSERT ON attempt BEGIN SELECT 1; END",
            "the trigger `attempt_is_kept` was changed",
        ),
        ("DROP INDEX attempt_key", "the index `attempt_key` is missing"),
        (
            "DROP INDEX attempt_key; CREATE INDEX attempt_key ON attempt (space)",
            "the index `attempt_key` was changed",
        ),
        ("CREATE UNIQUE INDEX mine ON instance (status)", "the index `mine` was added"),
        ("ALTER TABLE tool ADD COLUMN note TEXT", "the table `tool` was changed"),
    ] {
        assert_eq!(problems(edit).await, [problem], "{edit}");
    }
}

const SECOND: &str = "INSERT INTO store SELECT zeroblob(16), generation, copied, seal FROM store";

/// The journal is append-only, and a file is one store.
#[tokio::test]
async fn triggers_refuse_mistakes() {
    let place = Place::new().await;
    let _ = place.stored(mail("bob")).await;
    let before = place.dump().await;
    for (sql, says) in [
        ("UPDATE journal SET at = 0", "append-only"),
        ("UPDATE journal SET body = '{}', digest = x''", "append-only"),
        ("DELETE FROM journal", "append-only"),
        (SECOND, "a file is one store"),
    ] {
        let refused = place.raw().execute(sql, []).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
    assert_eq!(place.dump().await, before);
}

/// Without its trigger.
#[tokio::test]
async fn a_second_identity_is_noticed() {
    let place = Place::new().await;
    let path = place.file();
    place.store.close().await.unwrap();
    place.unprotected().execute(SECOND, []).unwrap();
    let opened = Store::sqlite(&path).await;
    assert_err!(opened.map(drop), OpenError::TwoIdentities { path: of } if *of == path);
}
