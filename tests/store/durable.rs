//! Durability (EX-6, DESIGN 4).

use machine::{
    contract::AnyExecution,
    store::{OpenError, Store},
};
use machine_tests::{assert_err, samples::read};

use crate::store::support::Place;

/// WAL is on, and stays on for the next process that opens the file.
#[tokio::test]
async fn the_journal_mode_is_wal() {
    let place = Place::new().await;
    let mode: String = place.raw().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

/// In-memory and temporary databases are refused.
#[tokio::test]
async fn what_cannot_be_durable_is_refused() {
    let refused = Store::sqlite(":memory:").await;
    assert_err!(refused, OpenError::CannotOpen { reason, .. } if reason.contains("Store::memory"));
    assert_err!(Store::sqlite("").await, OpenError::CannotOpen { .. });
}

/// The file has the application id and the format number.
#[tokio::test]
async fn the_file_is_marked() {
    let place = Place::new().await;
    let number = |sql| place.raw().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("PRAGMA application_id"), 0x6d61_6368);
    assert_eq!(number("PRAGMA user_version"), 7);
}

/// When a commit returns, another connection sees it.
#[tokio::test]
async fn a_commit_is_visible_at_once() {
    let place = Place::new().await;
    let pending = place.stored(read("a.txt")).await;
    let count: i64 =
        place.raw().query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);

    let seen: AnyExecution = place.open_again().await.load(pending.id()).await.unwrap();
    assert_eq!(seen.journal().summary(), pending.journal().summary());
}

/// The journal is append-only: triggers in the file refuse anything else.
#[tokio::test]
async fn a_journal_entry_cannot_be_updated() {
    let place = Place::new().await;
    let pending = place.stored(read("a.txt")).await;
    let before = place.dump().await;
    for sql in [
        "UPDATE journal SET at = 0",
        "UPDATE journal SET body = '{}', digest = x''",
        "DELETE FROM journal",
    ] {
        let refused = place.raw().execute(sql, []).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
    assert_eq!(place.dump().await, before);
    let seen: AnyExecution = place.store.load(pending.id()).await.unwrap();
    assert_eq!(seen.journal().version(), 1);
}
