//! A handler that sends messages to its own machine: a loop without an end is set aside.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    store::{Delivery, Message, Store},
    worker::{Next, Task},
};

use crate::worker::support::{
    AnyTicket, Does, actors, does, each, opens, says, settle, status, ticket, ticket::Status,
    worker,
};

const ROUNDS: u32 = 100;

const TEXT: &str = "the handler has sent messages to its own machine 100 times in a row, and the machine has \
                    not changed; make a transition, or wait without a message";

/// Sends its own machine what it does not take now, and waits; counts how often.
fn talks_to_itself(calls: Arc<AtomicU32>) -> Does<AnyTicket> {
    does(move |_: AnyTicket, task: &mut Task| {
        calls.fetch_add(1, Ordering::SeqCst);
        let unlock = r#"{"trigger": "unlock"}"#;
        task.send(task.id(), Message::from_json(unlock, &actors().graph_runner).unwrap());
        Box::pin(async { Ok(Next::Wait) })
    })
}

async fn is_set_aside(store: &Store, id: Id) {
    let aside = store.set_aside().await.unwrap().machines;
    assert_eq!(aside, [(id, Some(TEXT.to_owned()))]);
}

/// The finding: 85,000 messages in 2.4 s, and no end.
#[tokio::test]
async fn handler_that_only_talks_to_itself_is_set_aside() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let calls = Arc::new(AtomicU32::new(0));
        settle(worker(&store).handler(talks_to_itself(Arc::clone(&calls)))).await;
        assert_eq!(calls.load(Ordering::SeqCst), ROUNDS);
        assert_eq!(store.inbox(id).await.unwrap().len(), ROUNDS as usize);
        is_set_aside(&store, id).await;
        // Once more after a requeue.
        store.requeue(id, &[]).await.unwrap();
        settle(worker(&store).handler(talks_to_itself(Arc::clone(&calls)))).await;
        assert_eq!(calls.load(Ordering::SeqCst), 2 * ROUNDS);
        is_set_aside(&store, id).await;
    })
    .await;
}

/// Messages of others move the machine all the same, and with that its handler begins anew.
#[tokio::test]
async fn message_of_another_moves_what_was_set_aside() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let opens = opens();
        settle(worker(&store).handler(opens)).await;
        assert_eq!(status(&store, id).await, Status::Open);
        store.send(id, &says(r#"{"trigger": "unlock"}"#, "news")).await.unwrap();
        settle(worker(&store).handler(talks_to_itself(Arc::default()))).await;
        assert_eq!(status(&store, id).await, Status::Open);
        is_set_aside(&store, id).await;
        store.send(id, &says(r#"{"trigger": "pay", "amount": 3}"#, "pay")).await.unwrap();
        settle(worker(&store).handler(talks_to_itself(Arc::default()))).await;
        assert_eq!(status(&store, id).await, Status::Paid);
    })
    .await;
}

/// A worker that takes over continues the count of its predecessors.
#[tokio::test]
async fn rounds_are_counted_across_workers() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let calls = Arc::new(AtomicU32::new(0));
        let (counted, stop) = (Arc::clone(&calls), Arc::new(tokio::sync::Notify::new()));
        let stopped = Arc::clone(&stop);
        let first = does(move |_: AnyTicket, task: &mut Task| {
            let is_over = counted.load(Ordering::SeqCst) == 60;
            if is_over {
                stopped.notify_one();
            } else {
                counted.fetch_add(1, Ordering::SeqCst);
                task.send(task.id(), says(r#"{"trigger": "unlock"}"#, &unique()));
            }
            Box::pin(async move {
                if is_over {
                    std::future::pending::<()>().await;
                }
                Ok(Next::Wait)
            })
        });
        let first = worker(&store).grace(Duration::ZERO).handler(first);
        first.run_until(stop.notified()).await.unwrap();
        settle(worker(&store).handler(talks_to_itself(Arc::clone(&calls)))).await;
        assert_eq!(calls.load(Ordering::SeqCst), ROUNDS);
        is_set_aside(&store, id).await;
    })
    .await;
}

fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("unlock-{}", NEXT.fetch_add(1, Ordering::SeqCst))
}

/// Messages to itself that move the machine have no limit.
#[tokio::test]
async fn messages_to_itself_that_move_the_machine() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let left = AtomicU32::new(3 * ROUNDS);
        let runner = actors().graph_runner;
        let moves = does(move |machine: AnyTicket, task: &mut Task| {
            let mut next = Next::Wait;
            let trigger = match machine {
                AnyTicket::New(ticket) => {
                    next = Next::to(ticket.open(&runner));
                    None
                }
                AnyTicket::Open(_) if left.fetch_sub(1, Ordering::SeqCst) > 1 => Some("lock"),
                AnyTicket::Locked(_) => Some("unlock"),
                _ => None,
            };
            if let Some(trigger) = trigger {
                let body = format!(r#"{{"trigger": "{trigger}"}}"#);
                task.send(task.id(), Message::from_json(body, &runner).unwrap());
            }
            Box::pin(async { Ok(next) })
        });
        settle(worker(&store).handler(moves)).await;
        assert_eq!(status(&store, id).await, Status::Open);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        let inbox = store.inbox(id).await.unwrap().into_iter().map(Result::unwrap);
        let handled = inbox.filter(|it| it.status == Delivery::Handled).count();
        assert_eq!(handled, 2 * (3 * ROUNDS as usize - 1));
    })
    .await;
}
