//! Correlation ids: of the messages with one id, a machine takes one, and no sender loses a message to
//! another one unnoticed.

use machine::{
    Id,
    actor::GraphRunner,
    store::{CommitError, Delivery, Message, SendError, Sent, Store},
    worker::Next,
};

use crate::worker::support::{
    AnyTicket, actors, does, each, opens, says, settle, status, ticket, ticket::Status, worker,
};

const PAY: &str = r#"{"trigger": "pay", "amount": 3}"#;
const OTHER: &str = r#"{"trigger": "pay", "amount": 4}"#;
const NONSENSE: &str = r#"{"trigger": "nonsense"}"#;

fn of_runner(body: &str, correlation: &str) -> Message {
    let runner: GraphRunner = actors().graph_runner;
    Message::from_json(body, &runner).unwrap().with_correlation(correlation).unwrap()
}

/// The messages in the inbox, with what became of them.
async fn inbox(store: &Store, id: Id) -> Vec<(String, Delivery)> {
    let inbox = store.inbox(id).await.unwrap().into_iter().map(Result::unwrap);
    inbox.map(|it| (it.body, it.status)).collect()
}

fn is_refused(sent: Result<Sent, SendError>, id: Id) {
    let error = sent.unwrap_err();
    assert!(matches!(&error, SendError::OtherMessage { id: of, correlation }
        if *of == id && correlation == "form-17"));
    let said = "ID has another message with the correlation id `form-17`; this one was not kept; send it \
                with another id";
    assert_eq!(error.to_string(), said.replace("ID", &id.to_string()));
}

/// The finding: Ann's answer was "a duplicate" of what another sender had sent under its id, and lost.
#[tokio::test]
async fn message_of_another_sender_is_no_duplicate() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        assert_eq!(store.send(id, &of_runner(PAY, "form-17")).await.unwrap(), Sent::Queued);
        is_refused(store.send(id, &says(PAY, "form-17")).await, id);
        is_refused(store.send(id, &of_runner(OTHER, "form-17")).await, id);
        assert_eq!(store.send(id, &of_runner(PAY, "form-17")).await.unwrap(), Sent::Duplicate);
        assert_eq!(inbox(&store, id).await, [(PAY.to_owned(), Delivery::Queued)]);
    })
    .await;
}

/// Also after it was handled, and whatever the machine has become.
#[tokio::test]
async fn other_message_after_it_was_handled() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        store.send(id, &says(PAY, "form-17")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
        is_refused(store.send(id, &says(OTHER, "form-17")).await, id);
        let spaces = r#"{ "amount":3, "trigger":"pay" }"#;
        assert_eq!(store.send(id, &says(spaces, "form-17")).await.unwrap(), Sent::Duplicate);
        assert_eq!(inbox(&store, id).await, [(PAY.to_owned(), Delivery::Handled)]);
    })
    .await;
}

/// Nothing of the batch is written.
#[tokio::test]
async fn other_message_in_a_batch() {
    each(async |store: Store| {
        let (id, other) = (ticket(&store).await, ticket(&store).await);
        store.send(id, &says(PAY, "form-17")).await.unwrap();
        let message = says(OTHER, "form-17");
        let refused = store.batch().send(other, &message).send(id, &message).write().await;
        let Err(CommitError::OtherMessage { id: of, correlation }) = refused else { panic!() };
        assert_eq!((of, &*correlation), (id, "form-17"));
        let twice = [says(PAY, "x"), says(OTHER, "x")];
        let refused = store.batch().send(other, &twice[0]).send(other, &twice[1]).write().await;
        assert!(matches!(refused, Err(CommitError::OtherMessage { .. })), "{refused:?}");
        assert!(inbox(&store, other).await.is_empty());
    })
    .await;
}

/// A corrected message takes the id of one that was set aside, by malice or by mistake.
#[tokio::test]
async fn corrected_message_is_taken() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        for first in [of_runner(NONSENSE, "form-17"), says(NONSENSE, "form-17")] {
            assert_eq!(store.send(id, &first).await.unwrap(), Sent::Queued);
            is_refused(store.send(id, &says(PAY, "form-17")).await, id);
            settle(worker(&store).handler(opens())).await;
        }
        assert_eq!(store.send(id, &says(NONSENSE, "form-17")).await.unwrap(), Sent::Duplicate);
        assert_eq!(store.set_aside().await.unwrap().messages.len(), 1);
        assert_eq!(store.send(id, &says(PAY, "form-17")).await.unwrap(), Sent::Queued);
        assert!(store.set_aside().await.unwrap().messages.is_empty());
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
        let expected = [
            (NONSENSE.to_owned(), Delivery::Replaced),
            (NONSENSE.to_owned(), Delivery::Replaced),
            (PAY.to_owned(), Delivery::Handled),
        ];
        assert_eq!(inbox(&store, id).await, expected);
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    })
    .await;
}

/// A requeue is for the newest message of an id; what was replaced is never taken.
#[tokio::test]
async fn requeue_after_a_correction() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        // This program does not know the sender's trigger; a later version would.
        store.send(id, &says(r#"{"trigger": "lock"}"#, "form-17")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        store.send(id, &says(NONSENSE, "form-17")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        store.requeue(id, &["form-17"]).await.unwrap();
        is_refused(store.send(id, &says(PAY, "form-17")).await, id);
        let expected = [
            (r#"{"trigger": "lock"}"#.to_owned(), Delivery::Replaced),
            (NONSENSE.to_owned(), Delivery::Queued),
        ];
        assert_eq!(inbox(&store, id).await, expected);
    })
    .await;
}

/// An answer that came too late can be given again, by one who has looked again.
#[tokio::test]
async fn answer_that_came_too_late_is_given_again() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let answer = |seen| says(PAY, "form-17").unless_moved(seen);
        store.send(id, &answer(7)).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Open);
        assert_eq!(store.send(id, &answer(7)).await.unwrap(), Sent::Duplicate);
        assert_eq!(store.send(id, &answer(1)).await.unwrap(), Sent::Queued);
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
        // Once it was taken, what its sender has seen does not matter.
        assert_eq!(store.send(id, &answer(2)).await.unwrap(), Sent::Duplicate);
    })
    .await;
}

/// A message that waits keeps its own condition: a correction is refused aloud, and not taken for a duplicate.
#[tokio::test]
async fn answer_with_another_condition_is_no_duplicate() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let answer = |seen| says(PAY, "form-17").unless_moved(seen);
        store.send(id, &answer(7)).await.unwrap();
        is_refused(store.send(id, &answer(1)).await, id);
        assert_eq!(store.send(id, &answer(7)).await.unwrap(), Sent::Duplicate);
        settle(worker(&store).handler(opens())).await;
        // It was too late, and the correction takes its place.
        assert_eq!(store.send(id, &answer(1)).await.unwrap(), Sent::Queued);
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
    })
    .await;
}

/// A handler that sends two messages under one id fails, and is set aside with the reason.
#[tokio::test]
async fn handler_that_uses_an_id_twice() {
    each(async |store: Store| {
        let (id, other) = (ticket(&store).await, ticket(&store).await);
        let runner = actors().graph_runner;
        let sends = does(move |machine: AnyTicket, task| {
            let next = match machine {
                AnyTicket::New(ticket) if task.id() == id => {
                    task.send(other, says(PAY, "form-17"));
                    task.send(other, says(OTHER, "form-17"));
                    Next::to(ticket.open(&runner))
                }
                _ => Next::Wait,
            };
            Box::pin(async move { Ok(next) })
        });
        settle(worker(&store).attempts(2).handler(sends)).await;
        assert_eq!(status(&store, id).await, Status::New);
        let aside = store.set_aside().await.unwrap().machines;
        let [(machine, Some(error))] = &aside[..] else { panic!("{aside:?}") };
        assert_eq!(*machine, id);
        assert!(error.contains("use another id for this one"), "{error}");
    })
    .await;
}

/// Messages of one sender are those of one name.
#[tokio::test]
async fn message_of_another_person() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let of = |name: &str| {
            let by = machine::actor::Human::new(name).unwrap();
            Message::from_json(PAY, &by).unwrap().with_correlation("form-17").unwrap()
        };
        assert_eq!(store.send(id, &of("bob")).await.unwrap(), Sent::Queued);
        is_refused(store.send(id, &of("ann")).await, id);
    })
    .await;
}
