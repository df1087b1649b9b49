//! Correlation ids: of the messages with one id, a machine takes one, and no sender loses a message
//! to another one unnoticed.

use machine::{
    effects::EffectError,
    store::{SendError, Sent},
};

use crate::worker::prelude::*;

const OTHER: &str = r#"{"trigger": "pay", "amount": 4}"#;
const NONSENSE: &str = r#"{"trigger": "nonsense"}"#;

/// Ann's message and the program's, under the same id.
fn ann_says(body: &str) -> Message {
    says(body, "form-17")
}

fn runner_says(body: &str) -> Message {
    tells(body, "form-17")
}

/// The messages of a machine, with their status.
async fn has(store: &Store, id: Id, expected: &[(&str, Delivery)]) {
    let inbox = inbox(store, id).await;
    let found: Vec<_> = inbox.iter().map(|it| (&*it.body, it.status)).collect();
    assert_eq!(found, expected);
}

async fn sent(store: &Store, id: Id, message: Message, expected: Sent) {
    assert_eq!(store.send(id, &message).await.unwrap(), expected, "{message:?}");
}

async fn is_refused(store: &Store, id: Id, message: Message) {
    let error = store.send(id, &message).await.unwrap_err();
    assert!(matches!(&error, SendError::OtherMessage { id: of, correlation }
        if *of == id && correlation == "form-17"));
    let said = "ID has another message with the correlation id `form-17`; this one was not stored; send \
                it with another id";
    assert_eq!(error.to_string(), said.replace("ID", &id.to_string()));
}

async fn works(store: &Store) {
    settle(worker(store).handler(opens())).await;
}

/// By a send, and by a batch, of which nothing is written. What makes it another message is in the
/// conformance suite of the store.
#[test]
fn another_message_under_one_id_is_refused() {
    each(async |store| {
        let (id, other) = (ticket(&store).await, ticket(&store).await);
        sent(&store, id, runner_says(PAY), Sent::Queued).await;
        is_refused(&store, id, ann_says(PAY)).await;
        is_refused(&store, id, runner_says(OTHER)).await;
        sent(&store, id, runner_says(PAY), Sent::Duplicate).await;
        let message = ann_says(PAY);
        let refused = store.batch().send(other, &message).send(id, &message).write().await;
        assert_err!(refused, EffectError::OtherMessage { id: of, correlation }
            if *of == id && correlation == "form-17");
        has(&store, id, &[(PAY, Delivery::Queued)]).await;
        assert!(inbox(&store, other).await.is_empty());
    });
}

/// A requeue is for the newest message of an id; what was replaced is never taken.
#[test]
fn requeue_after_a_correction() {
    each(async |store| {
        let id = ticket(&store).await;
        // This program does not know the sender's trigger; a later version would.
        for body in [LOCK, NONSENSE] {
            sent(&store, id, ann_says(body), Sent::Queued).await;
            works(&store).await;
        }
        store.requeue(id, &["form-17"]).await.unwrap();
        is_refused(&store, id, ann_says(PAY)).await;
        has(&store, id, &[(LOCK, Delivery::Replaced), (NONSENSE, Delivery::Queued)]).await;
    });
}

/// A message that waits keeps its own condition: a correction is refused aloud, and not taken for a
/// duplicate. An answer that came too late can be given again, after another look.
#[test]
fn answer_with_another_condition() {
    each(async |store| {
        let id = ticket(&store).await;
        let answer = |seen| ann_says(PAY).unless_moved(seen);
        sent(&store, id, answer(7), Sent::Queued).await;
        is_refused(&store, id, answer(1)).await;
        sent(&store, id, answer(7), Sent::Duplicate).await;
        works(&store).await;
        is(&store, id, "open").await;
        sent(&store, id, answer(7), Sent::Duplicate).await;
        sent(&store, id, answer(1), Sent::Queued).await;
        works(&store).await;
        is(&store, id, "paid").await;
        // Once it was taken, what its sender has seen does not matter.
        sent(&store, id, answer(2), Sent::Duplicate).await;
    });
}

/// A handler that sends two messages under one id fails, and is set aside with the reason.
#[test]
fn handler_that_uses_an_id_twice() {
    each(async |store| {
        let (id, other) = (ticket(&store).await, ticket(&store).await);
        let sends = moves(move |machine, task| match machine {
            AnyTicket::New(ticket) if task.id() == id => {
                task.send(other, ann_says(PAY));
                task.send(other, ann_says(OTHER));
                Next::to(ticket.open(graph_runner()))
            }
            _ => Next::Wait,
        });
        settle(worker(&store).attempts(2).handler(sends)).await;
        is(&store, id, "new").await;
        let aside = store.set_aside().await.unwrap().machines;
        let [(machine, Some(error))] = &aside[..] else { panic!("{aside:?}") };
        assert_eq!(*machine, id);
        assert!(error.contains("use another id for this one"), "{error}");
    });
}
