//! An inbox with too many messages. The counters are edited, so that no test writes 10,000 rows.

use machine::{
    effects::EffectError,
    observe::{ConcernReason, Observer},
    store::{SendError, Sent},
    view::Internal,
};
use rusqlite::Connection;

use crate::worker::prelude::*;

/// A file with an open ticket that a worker has driven, and a connection to edit it.
async fn desk() -> (tempfile::TempDir, Store, Connection, Id) {
    let (folder, path) = new_file();
    let store = OpenOptions::new().clock(Hand::default()).sqlite(&path).await.unwrap();
    let id = ticket(&store).await;
    settle(worker(&store).handler(opens())).await;
    (folder, store, Connection::open(&path).unwrap(), id)
}

fn set_queued(raw: &Connection, queued: u32) {
    assert_eq!(raw.execute("UPDATE work SET queued = ?1", [queued]).unwrap(), 1);
}

#[tokio::test]
async fn full_inbox_takes_nothing_of_programs_and_people() {
    let (_folder, store, raw, id) = desk().await;
    set_queued(&raw, 9_999);
    assert_eq!(store.send(id, &says(UNLOCK, "1")).await.unwrap(), Sent::Queued);
    let error = store.send(id, &says(UNLOCK, "2")).await.unwrap_err();
    assert!(matches!(error, SendError::InboxFull { id: of, queued: 10_000 } if of == id));
    let said = "the inbox of ID is full: 10000 messages are queued; this one was not stored; find out why \
                the machine does not take them, for example with `show`, and send it again when it has";
    assert_eq!(error.to_string(), said.replace("ID", &id.to_string()));
    // It has this one.
    assert_eq!(store.send(id, &says(UNLOCK, "1")).await.unwrap(), Sent::Duplicate);
    let refused = store.batch().send(id, &tells(UNLOCK, "2")).write().await;
    assert_err!(refused, EffectError::InboxFull { queued: 10_000, .. });
    assert_eq!(inbox(&store, id).await.len(), 1);
    let log = store.operations(10, None).await.unwrap();
    assert!(format!("{:?}", log.items).contains("refused: the inbox of"), "{:?}", log.items);
}

/// A handler that sends to it is tried again.
#[tokio::test]
async fn handler_that_sends_to_a_full_inbox_has_failed() {
    let (_folder, store, raw, full) = desk().await;
    set_queued(&raw, 10_000);
    let id = ticket(&store).await;
    let sends = || {
        moves(move |ticket: AnyTicket, task| match ticket {
            AnyTicket::New(ticket) => {
                task.send(full, tells(UNLOCK, "1"));
                Next::to(ticket.open(graph_runner()))
            }
            _ => Next::Wait,
        })
    };
    settle(Worker::new(&store, actors()).handler(sends())).await;
    is(&store, id, "new").await;
    let attention = Observer::new(&store).attention::<Internal>(&Query::new()).await.unwrap();
    let mut concerns = attention.concerns.iter();
    let failing = concerns.find(|one| one.reason == ConcernReason::Failing).unwrap();
    assert_eq!(failing.id, Some(id));
    let error = failing.error.as_deref().unwrap();
    assert!(error.starts_with("the inbox of"), "{error}");

    raw.execute("UPDATE work SET queued = 0", []).unwrap();
    store.requeue(id, &[]).await.unwrap();
    settle(worker(&store).handler(sends())).await;
    is(&store, id, "open").await;
    assert_eq!(inbox(&store, full).await.len(), 1);
}

#[tokio::test]
async fn inbox_with_many_messages_needs_attention() {
    let (_folder, store, raw, id) = desk().await;
    for (queued, reason) in
        [(1_000, ConcernReason::WaitsForPerson), (1_001, ConcernReason::ManyMessages)]
    {
        set_queued(&raw, queued);
        let attention = Observer::new(&store).attention::<Internal>(&Query::new()).await.unwrap();
        let concern = &attention.concerns[0];
        assert_eq!((concern.id, concern.reason), (Some(id), reason));
        let says = concern.cause.as_deref().is_some_and(|it| it.starts_with("1001 messages"));
        assert_eq!(says, reason == ConcernReason::ManyMessages, "{:?}", concern.cause);
    }
    let report = store.verify_all(|_| ()).await.unwrap();
    let problems: Vec<_> = report.problems.iter().map(|it| (it.id, it.reason.as_str())).collect();
    let said = "its inbox does not have 1001 queued messages, as its work says";
    assert_eq!(problems, [(Some(id), said)]);
}
