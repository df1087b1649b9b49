//! Valid and invalid messages, and their way to the machine.

use machine::{
    actor::{Actor, Category, Human},
    contract::{AnyExecution, Contract, Execution},
    machine,
    store::{Delivery, InvalidMessage, Message, SendError, Sent, Store},
    worker::Next,
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{
    AnyTicket, Ticket, actors, ann, create, does, each, message, opens, says, settle, status,
    ticket, worker,
};

const PAY: &str = r#"{"trigger": "pay", "amount": 3}"#;

#[tokio::test]
async fn unknown_machine() {
    each(async |store: Store| {
        let id = Ticket::new().id();
        let error = store.send(id, &says(PAY, "1")).await.unwrap_err();
        assert!(matches!(error, SendError::NotFound { id: unknown } if unknown == id));
        let text = error.to_string();
        let said = "there is no machine ID in this store; the message was not kept; check the id";
        assert_eq!(text, said.replace("ID", &id.to_string()));
        assert!(store.inbox(id).await.unwrap().is_empty());
    })
    .await;
}

/// A batch with such a message writes nothing at all.
#[tokio::test]
async fn unknown_machine_in_a_batch() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let batch =
            store.batch().send(id, &says(PAY, "1")).send(Ticket::new().id(), &says(PAY, "1"));
        batch.write().await.unwrap_err();
        assert!(store.inbox(id).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn ended_machine_keeps_the_message_set_aside() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        store.send(id, &says(PAY, "1")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, crate::worker::support::ticket::Status::Paid);

        let error = store.send(id, &says(PAY, "2")).await.unwrap_err();
        assert!(matches!(error, SendError::Ended { id: ended } if ended == id));
        let text = error.to_string();
        let said = "ID has ended, so the message will never be handled; it is kept, set aside";
        assert_eq!(text, said.replace("ID", &id.to_string()));
        let second = message(&store, id, "2").await;
        assert_eq!(second.status, Delivery::SetAside);
        assert_eq!(second.error.as_deref(), Some("the machine has ended"));
        let error = store.requeue(id, &["2"]).await.unwrap_err();
        assert!(matches!(error, SendError::Ended { .. }), "{error}");
        assert_eq!(message(&store, id, "2").await, second);
    })
    .await;
}

/// Messages that wait when the machine ends are set aside, not lost.
#[tokio::test]
async fn end_sets_aside_what_waits() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        store.send(id, &says(PAY, "1")).await.unwrap();
        store.send(id, &says(r#"{"trigger": "cancel", "reason": "no"}"#, "2")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(message(&store, id, "1").await.status, Delivery::Handled);
        let second = message(&store, id, "2").await;
        assert_eq!(second.status, Delivery::SetAside);
        assert_eq!(second.error.as_deref(), Some("the machine has ended"));
    })
    .await;
}

#[tokio::test]
async fn duplicate_is_taken_once() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        assert_eq!(store.send(id, &says(PAY, "1")).await.unwrap(), Sent::Queued);
        assert_eq!(store.send(id, &says(PAY, "1")).await.unwrap(), Sent::Duplicate);
        assert_eq!(store.inbox(id).await.unwrap().len(), 1);
        settle(worker(&store).handler(opens())).await;
        // Also after it was handled, and in a batch.
        assert_eq!(store.send(id, &says(PAY, "1")).await.unwrap(), Sent::Duplicate);
        store.batch().send(id, &says(PAY, "1")).write().await.unwrap();
        assert_eq!(store.inbox(id).await.unwrap().len(), 1);
        assert_eq!(message(&store, id, "1").await.status, Delivery::Handled);
    })
    .await;
}

/// Correlation ids belong to one machine.
#[tokio::test]
async fn same_correlation_id_at_two_machines() {
    each(async |store: Store| {
        let (first, second) = (ticket(&store).await, ticket(&store).await);
        for id in [first, second] {
            assert_eq!(store.send(id, &says(PAY, "1")).await.unwrap(), Sent::Queued);
        }
    })
    .await;
}

/// A message to a machine of a kind that no worker drives waits, and does not disturb others.
#[tokio::test]
async fn foreign_machine() {
    each(async |store: Store| {
        let by = actors();
        let question = Contract::ecs_request("Which port?", &by.reasoning_node).unwrap();
        let waiting = Execution::new(question).start(&by.ecs_node);
        let foreign = create(&store, waiting.suspend("Which port?".to_owned(), &by.ecs_node)).await;
        let id = ticket(&store).await;
        for id in [foreign, id] {
            store.send(id, &says(PAY, "1")).await.unwrap();
        }
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, crate::worker::support::ticket::Status::Paid);
        let kept = message(&store, foreign, "1").await;
        assert_eq!((kept.status, kept.error), (Delivery::Queued, None));
        store.load::<AnyExecution>(foreign).await.unwrap();
        assert!(store.load::<AnyTicket>(foreign).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn largest_message_is_handled_and_one_byte_more_is_refused() {
    let body = |bytes: usize| {
        let start = r#"{"trigger": "cancel", "reason": ""#;
        format!("{start}{}\"}}", "x".repeat(bytes - start.len() - 2))
    };
    let most = Message::MAX_BYTES;
    assert_eq!(most, 1_048_576);
    let error = Message::from_json(body(most + 1), &ann()).unwrap_err();
    assert!(matches!(error, InvalidMessage::TooLarge { bytes } if bytes == most + 1));
    assert_eq!(
        error.to_string(),
        "the message has 1048577 bytes, the limit is 1048576; store large data elsewhere and send \
         a reference"
    );
    each(async |store: Store| {
        let id = ticket(&store).await;
        store.send(id, &says(&body(most), "1")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(message(&store, id, "1").await.body.len(), most);
        assert_eq!(status(&store, id).await, crate::worker::support::ticket::Status::Cancelled);
    })
    .await;
}

#[test]
fn unusable_correlation_ids() {
    let long = "x".repeat(257);
    for id in ["", "\0", "a\nb", "a\u{200b}b", "\u{202e}", "\u{feff}a", "a\tb", "machine:x", &long]
    {
        let message = Message::from_json(PAY, &ann()).unwrap();
        let error = message.with_correlation(id).unwrap_err();
        assert!(matches!(error, InvalidMessage::Correlation { .. }), "{id:?}");
        let text = error.to_string();
        assert!(
            text.ends_with(
                "is not a correlation id; use 1 to 256 bytes without invisible characters; `machine:` \
                 at the start is reserved"
            ),
            "{text}"
        );
        assert!(text.len() < 300 && !text.contains(['\0', '\n', '\u{202e}']), "{text:?}");
    }
    for id in ["a", "a b", "日本", &"x".repeat(256)] {
        Message::from_json(PAY, &ann()).unwrap().with_correlation(id).unwrap();
    }
}

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "human";
    const CATEGORY: Category = Category::Human;

    fn name(&self) -> Option<&str> {
        Some("ann")
    }
}

/// A type of another crate does not speak for a person.
#[tokio::test]
async fn impostor_cannot_send() {
    let error = Message::from_json(PAY, &Impostor).unwrap_err();
    assert!(matches!(error, InvalidMessage::Actor("human")));
    // `Human` does not come from `Actors::issue`.
    assert_eq!(
        error.to_string(),
        "the kind `human` belongs to an actor of the library; give your actor a kind of its own"
    );
    each(async |store: Store| {
        let id = ticket(&store).await;
        // Nor does a worker take it for one: it is still `Human` who pays.
        store.send(id, &says(PAY, "1")).await.unwrap();
        settle(worker(&store).handler(opens()).sender::<Impostor>()).await;
        assert_eq!(status(&store, id).await, crate::worker::support::ticket::Status::Paid);
    })
    .await;
}

/// `inbox` shows a message as it was sent, whatever is in it.
#[tokio::test]
async fn inbox_shows_what_was_sent() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let hostile =
            "{\"trigger\": \"cancel\", \"reason\": \"\\u001b[31m'; DROP TABLE x; --\u{202e}\"}";
        let by = Human::new("日本 O'Neil").unwrap();
        let sent = Message::from_json(hostile, &by).unwrap().with_correlation("'; --").unwrap();
        store.send(id, &sent).await.unwrap();
        let shown = message(&store, id, "'; --").await;
        assert_eq!((shown.to, &*shown.body), (id, hostile));
        assert_eq!((&*shown.actor, shown.name.as_deref()), ("human", Some("日本 O'Neil")));
        assert_eq!((shown.status, shown.attempts, shown.error), (Delivery::Queued, 0, None));
        settle(worker(&store).handler(opens())).await;
        let AnyTicket::Cancelled(ticket) = store.load(id).await.unwrap() else { panic!() };
        assert_eq!(ticket.state().reason, "\u{1b}[31m'; DROP TABLE x; --\u{202e}");
    })
    .await;
}

/// A trigger that was called `post` before.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Letter {
    #[initial]
    #[on(send => Sent, by = Human, was = "post")]
    Draft,
    #[terminal]
    Sent,
}

#[tokio::test]
async fn old_name_of_a_trigger() {
    each(async |store: Store| {
        let id = create(&store, Letter::new()).await;
        store.send(id, &says(r#"{"trigger": "post"}"#, "1")).await.unwrap();
        let waits = does(|_: AnyLetter, _| Box::pin(async { Ok(Next::Wait) }));
        settle(worker(&store).handler(waits)).await;
        let found: AnyLetter = store.load(id).await.unwrap();
        assert_eq!(found.status(), letter::Status::Sent, "{:?}", store.inbox(id).await.unwrap());
    })
    .await;
}
