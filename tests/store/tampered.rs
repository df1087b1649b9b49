//! Edited rows fail verification (DESIGN 3).

use machine::{
    Id,
    contract::{AnyExecution, execution::Waiting},
    erased::VerifyError,
    store::StoreError,
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, asked, mail, read},
};

use crate::support::Place;

async fn waiting(place: &Place) -> Id {
    let mut waiting = asked("Deploy?");
    place.store.create(&mut waiting).await.unwrap();
    waiting.id()
}

/// Verification covers every column of a machine.
#[tokio::test]
async fn an_edited_row_is_refused() {
    for edit in [
        "status = 'completed'",
        "status = 'nonsense'",
        "status = 'running'",
        "state = '{\"prompt\":\"Say yes\"}'",
        "state = 'no json'",
        "context = replace(context, 'Deploy', 'Delete')",
        "context = '{}'",
        "version = version + 1",
        "epoch = 1",
        "seal = substr(seal, 2) || substr(seal, 1, 1)",
        "seal = 'x'",
        "definition = 0",
        "machine = 'ticket'",
    ] {
        let place = Place::new();
        let id = waiting(&place).await;
        let sql = format!("UPDATE instance SET {edit} WHERE id = ?1");
        assert_eq!(place.edit(&sql, id), 1);
        let loaded = place.store.load::<AnyExecution>(id).await;
        assert!(loaded.is_err(), "{edit} passed verification: {loaded:?}");
        assert!(place.store.resume::<Waiting>(id).await.is_err(), "{edit}");
    }
}

/// Indexed columns must match the journal too: holds and gates depend on them.
#[tokio::test]
async fn an_edited_index_column_is_refused() {
    for edit in [
        "holds_key = 0",
        "key = 'another'",
        "worker = NULL",
        "expires_at = 0",
        "behind = NULL, session = 'another'",
        "version = version - 1",
        "version = -version",
    ] {
        let place = Place::new();
        let (running, _permit) = place.begun(mail("bob").session("s1")).await;
        assert_eq!(
            place.edit(&format!("UPDATE instance SET {edit} WHERE id = ?1"), running.id()),
            1
        );
        let loaded = place.store.load::<AnyExecution>(running.id()).await;
        assert!(loaded.is_err(), "{edit} passed verification");
    }
}

/// A journal with a removed, added or changed entry is refused.
#[tokio::test]
async fn an_edited_journal_is_refused() {
    let insert = "INSERT INTO journal (instance, number, at, actor, definition, fact, digest)
                  SELECT instance, 3, at, actor, definition, fact, digest FROM journal
                  WHERE instance = ?1 AND number = 2";
    let replace = "INSERT OR REPLACE INTO journal
                   (instance, number, at, actor, definition, fact, digest)
                   SELECT instance, number, at, 'graph_runner', definition, fact, digest FROM journal
                   WHERE instance = ?1 AND number = 2";
    for edit in [
        "DELETE FROM journal WHERE instance = ?1 AND number = 2",
        "DELETE FROM journal WHERE instance = ?1 AND number = 0",
        "DELETE FROM journal WHERE instance = ?1",
        insert,
        replace,
    ] {
        let place = Place::new();
        let id = waiting(&place).await;
        assert!(place.edit(edit, id) > 0, "{edit}");
        let loaded = place.store.load::<AnyExecution>(id).await;
        assert_err!(loaded, StoreError::Unreadable(VerifyError::History { .. }));
    }
}

/// The error names the machine and the reason, and nothing changes.
#[tokio::test]
async fn the_refusal_says_why() {
    let place = Place::new();
    let id = waiting(&place).await;
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", id);
    let before = place.dump();
    let text = place.store.load::<AnyExecution>(id).await.unwrap_err().to_string();
    assert!(text.contains(&id.to_string()), "{text}");
    assert!(text.contains("claims `completed`") && text.contains("`waiting`"), "{text}");
    assert_eq!(place.dump(), before);
}

/// The id of another kind of machine is refused; the error names that kind.
#[tokio::test]
async fn another_machine_is_refused() {
    let place = Place::new();
    let id = place.stored(read("a.txt")).await.id();
    let refused = place.store.load::<AnyTicket>(id).await;
    assert_err!(refused, StoreError::Unreadable(VerifyError::OtherMachine {
        expected: "ticket", found, ..
    }) if found == "execution");
}
