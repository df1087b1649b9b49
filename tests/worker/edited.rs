//! Messages that were edited in the file: not applied, reported, and without effect on others.

use machine::store::LoadError;
use rusqlite::Connection;

use crate::worker::prelude::*;

/// A file with two tickets, whose rows an attacker with write access can change.
struct Desk {
    _folder: tempfile::TempDir,
    store: Store,
    raw: Connection,
    first: Id,
    second: Id,
}

impl Desk {
    async fn new() -> Self {
        let (folder, path) = new_file();
        let store = OpenOptions::new().clock(Hand::default()).sqlite(&path).await.unwrap();
        let (first, second) = (ticket(&store).await, ticket(&store).await);
        let raw = Connection::open(&path).unwrap();
        let free = "DROP TRIGGER message_keeps_its_body; DROP TRIGGER message_stays_handled;";
        raw.execute_batch(free).unwrap();
        Self { _folder: folder, store, raw, first, second }
    }

    /// With a message `pay 3` (correlation id `one`) and one `pay 7` (`two`) to the first ticket,
    /// and `pay 7` (`two`) to the second. The message `one` was changed.
    async fn edited(change: &str) -> Self {
        let desk = Self::new().await;
        let seven = says(r#"{"trigger": "pay", "amount": 7}"#, "two");
        desk.store.send(desk.first, &says(PAY, "one")).await.unwrap();
        for id in [desk.first, desk.second] {
            desk.store.send(id, &seven).await.unwrap();
        }
        let sql = format!("UPDATE message SET {change} WHERE correlation = 'one'");
        assert_eq!(desk.raw.execute(&sql, []).unwrap(), 1, "{sql}");
        desk
    }

    async fn work(&self) {
        settle(worker(&self.store).handler(opens())).await;
    }

    /// The other messages were taken, by this machine and by others.
    async fn others_continue(&self, change: &str) {
        for id in [self.first, self.second] {
            match self.store.load(id).await.unwrap() {
                AnyTicket::Paid(ticket) => assert_eq!(ticket.state().amount, 7, "{change}"),
                other => panic!("{change}: {:?}", other.status()),
            }
        }
    }
}

#[tokio::test]
async fn sealed_columns_cannot_be_changed() {
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
        let desk = Desk::edited(change).await;
        desk.work().await;
        desk.others_continue(change).await;
        let mut broken = Vec::new();
        for id in [desk.first, desk.second] {
            let inbox = desk.store.inbox(id).await.unwrap();
            broken.extend(inbox.into_iter().filter_map(Result::err));
        }
        let [LoadError::Unreadable(error)] = &broken[..] else { panic!("{change}: {broken:?}") };
        let text = error.to_string();
        assert!(text.contains("message"), "{change}: {text}");
        let report = desk.store.verify_all(|_| ()).await.unwrap();
        assert_eq!(report.problems.len(), 1, "{change}: {report:?}");
    }
}

/// Many of them hide nothing.
#[tokio::test]
async fn many_edited_messages_hide_no_other() {
    let desk = Desk::new().await;
    for number in 0..70 {
        desk.store.send(desk.first, &says(PAY, &number.to_string())).await.unwrap();
    }
    desk.raw.execute("UPDATE message SET name = 'bob'", []).unwrap();
    for id in [desk.first, desk.second] {
        desk.store.send(id, &says(r#"{"trigger": "pay", "amount": 7}"#, "fine")).await.unwrap();
    }
    desk.work().await;
    desk.others_continue("many").await;
}

/// A message that was handled causes no second transition, whatever the file says.
#[tokio::test]
async fn handled_message_is_not_applied_again() {
    let desk = Desk::new().await;
    for message in [tells(LOCK, "lock"), tells(UNLOCK, "unlock")] {
        desk.store.send(desk.first, &message).await.unwrap();
        desk.work().await;
    }
    is(&desk.store, desk.first, "open").await;
    desk.raw.execute("UPDATE message SET status = 0 WHERE correlation = 'lock'", []).unwrap();
    // Something wakes the machine.
    desk.store.send(desk.first, &says("{}", "news")).await.unwrap();
    desk.work().await;
    is(&desk.store, desk.first, "open").await;
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
        let desk = Desk::edited(change).await;
        desk.work().await;
        desk.others_continue(change).await;
        assert_eq!(message(&desk.store, desk.first, "two").await.status, Delivery::Handled);
    }
}
