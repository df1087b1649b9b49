//! Files whose triggers, indexes or identity were edited by hand.

use std::fs;

use machine::store::{OpenError, Store};
use machine_tests::{
    assert_err,
    samples::{Ticket, mail},
};

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

/// Changes the number of a row in an index of a closed file, as a bad sector could.
fn damage(place: &Place, index: &str) {
    let select = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: u32 = place.raw().query_row(select, [index], |row| row.get(0)).unwrap();
    let mut bytes = fs::read(place.file()).unwrap();
    let page = (usize::try_from(root).unwrap() - 1) * 4096;
    assert_eq!(bytes[page], 10, "it has one page");
    // After the header of a page are the places of its entries. An entry begins with the length of
    // what follows, and ends with the number of the row.
    let fourth = page + 8 + 2 * 3;
    let entry = page + usize::from(u16::from_be_bytes([bytes[fourth], bytes[fourth + 1]]));
    let last = entry + usize::from(bytes[entry]);
    bytes[last] ^= 64;
    fs::write(place.file(), bytes).unwrap();
}

/// Reads of machines do not use the first index, and fail because of the second.
#[tokio::test]
async fn a_damaged_index_is_noticed() {
    for (index, is_read) in [("instance_live", false), ("sqlite_autoindex_journal_1", true)] {
        let place = Place::new().await;
        for _ in 0..6 {
            let _ = place.created(Ticket::new()).await;
        }
        place.store.close().await.unwrap();
        damage(&place, index);
        let report = place.open_again().await.verify_all(|_| ()).await.unwrap();
        let reasons: Vec<_> = report.problems.iter().map(|it| it.reason.as_str()).collect();
        let missing = format!("the file is damaged: row 4 missing from index {index}");
        assert!(reasons[0].starts_with(&missing), "{reasons:#?}");
        assert!(reasons[0].contains("`REINDEX`"), "{reasons:#?}");
        let unread = reasons.iter().any(|it| it.starts_with("the rest was not verified: "));
        assert_eq!(unread, is_read, "{reasons:#?}");
    }
}

const SECOND: &str = "INSERT INTO store SELECT zeroblob(16), generation, copied, seal FROM store";

/// A trigger refuses it; without that one, the file does not open.
#[tokio::test]
async fn a_second_identity_is_noticed() {
    let place = Place::new().await;
    let path = place.file();
    let refused = place.raw().execute(SECOND, []).unwrap_err().to_string();
    assert!(refused.contains("a file is one store"), "{refused}");
    place.store.close().await.unwrap();
    place.unprotected().execute(SECOND, []).unwrap();
    let opened = Store::sqlite(&path).await;
    assert_err!(opened.map(drop), OpenError::TwoIdentities { path: of } if *of == path);
}
