//! Messages that were edited in the file: not applied, reported, and without effect on others.

use machine::{
    Id,
    store::{Delivery, LoadError, Message, OpenOptions, Store},
};
use rusqlite::Connection;

use crate::worker::support::{
    AnyTicket, Hand, actors, message, opens, says, settle, status, ticket, ticket::Status, worker,
};

/// An attacker with write access can do that, too.
const FREE: &str = "DROP TRIGGER message_keeps_its_body";

/// Runs this SQL on a file with a message `pay 3` (correlation id `one`) and one `pay 7` (`two`) to the
/// first ticket, and `pay 7` (`two`) to the second. Returns the store and both.
async fn edited(folder: &std::path::Path, sql: &str) -> (Store, Id, Id) {
    let path = folder.join("agent.db");
    let options = OpenOptions::new().clock(Hand::default());
    let store = options.sqlite(&path).await.unwrap();
    let (first, second) = (ticket(&store).await, ticket(&store).await);
    let pay = |amount: u32, id| says(&format!(r#"{{"trigger": "pay", "amount": {amount}}}"#), id);
    store.send(first, &pay(3, "one")).await.unwrap();
    store.send(first, &pay(7, "two")).await.unwrap();
    store.send(second, &pay(7, "two")).await.unwrap();
    let file = Connection::open(&path).unwrap();
    file.execute_batch(FREE).unwrap();
    assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
    drop(file);
    (store, first, second)
}

async fn amount(store: &Store, id: Id) -> u32 {
    match store.load(id).await.unwrap() {
        AnyTicket::Paid(ticket) => ticket.state().amount,
        other => panic!("{:?}", other.status()),
    }
}

#[tokio::test]
async fn what_the_seal_covers_cannot_be_changed() {
    for change in [
        "body = replace(body, '3', '9')",
        "body = body || ' '",
        "body = '{}'",
        "actor = 'graph_runner'",
        "name = 'bob'",
        "name = NULL",
        "name = ''",
        "correlation = 'other'",
        "sent_at = sent_at + 1",
        "seen = 1",
        "seal = zeroblob(32)",
        "seal = x''",
        // To the other machine.
        "instance = (SELECT max(no) FROM instance)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let sql = format!("UPDATE message SET {change} WHERE correlation = 'one'");
        let (store, first, second) = edited(folder.path(), &sql).await;
        settle(worker(&store).handler(opens())).await;
        // The others continue, for the machine and for all machines.
        assert_eq!((amount(&store, first).await, amount(&store, second).await), (7, 7), "{change}");
        let mut broken = Vec::new();
        for id in [first, second] {
            let inbox = store.inbox(id).await.unwrap();
            broken.extend(inbox.into_iter().filter_map(Result::err));
        }
        let [LoadError::Unreadable(error)] = &broken[..] else { panic!("{change}: {broken:?}") };
        let text = error.to_string();
        assert!(text.contains("message"), "{change}: {text}");
        store.close().await.unwrap();
    }
}

/// Its machine does not wait for it to be repaired.
#[tokio::test]
async fn edited_message_is_visible() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "UPDATE message SET name = 'bob' WHERE correlation = 'one'";
    let (store, ..) = edited(folder.path(), sql).await;
    settle(worker(&store).handler(opens())).await;
    let report = store.verify_all(|_| ()).await.unwrap();
    assert_eq!(report.problems.len(), 1, "{report:?}");
}

/// Many of them hide nothing.
#[tokio::test]
async fn many_edited_messages_hide_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let store = Store::sqlite(&path).await.unwrap();
    let id = ticket(&store).await;
    for number in 0..70 {
        let body = r#"{"trigger": "pay", "amount": 3}"#;
        store.send(id, &says(body, &number.to_string())).await.unwrap();
    }
    let file = Connection::open(&path).unwrap();
    file.execute_batch(FREE).unwrap();
    file.execute("UPDATE message SET name = 'bob'", []).unwrap();
    store.send(id, &says(r#"{"trigger": "pay", "amount": 7}"#, "fine")).await.unwrap();
    settle(worker(&store).handler(opens())).await;
    assert_eq!(amount(&store, id).await, 7);
}

/// A message that was handled causes no second transition, whatever the file says.
#[tokio::test]
async fn handled_message_is_not_applied_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let store = Store::sqlite(&path).await.unwrap();
    let id = ticket(&store).await;
    let by = actors().graph_runner;
    let lock = Message::from_json(r#"{"trigger": "lock"}"#, &by).unwrap();
    store.send(id, &lock.with_correlation("lock").unwrap()).await.unwrap();
    settle(worker(&store).handler(opens())).await;
    store.send(id, &says(r#"{"trigger": "unlock"}"#, "unlock")).await.unwrap();
    settle(worker(&store).handler(opens())).await;
    assert_eq!(status(&store, id).await, Status::Open);

    let file = Connection::open(&path).unwrap();
    file.execute("DROP TRIGGER message_stays_handled", []).unwrap();
    file.execute("UPDATE message SET status = 0 WHERE correlation = 'lock'", []).unwrap();
    // Something wakes the machine.
    store.send(id, &says("{}", "news")).await.unwrap();
    settle(worker(&store).handler(opens())).await;
    assert_eq!(status(&store, id).await, Status::Open);
}

/// Odd numbers where the library counts.
#[tokio::test]
async fn odd_status_and_attempts() {
    for change in [
        "status = 17",
        "status = -1",
        "attempts = -1",
        "attempts = 4294967296",
        "attempts = 9223372036854775807",
        "attempts = 4294967295",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let sql = format!("UPDATE message SET {change} WHERE correlation = 'one'");
        let (store, first, second) = edited(folder.path(), &sql).await;
        settle(worker(&store).handler(opens())).await;
        assert_eq!((amount(&store, first).await, amount(&store, second).await), (7, 7), "{change}");
        assert_eq!(message(&store, first, "two").await.status, Delivery::Handled);
        store.close().await.unwrap();
    }
}
