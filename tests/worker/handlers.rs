//! The results that a handler may return, and the fate of a machine whose handler fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::GraphRunner,
    machine,
    store::{Delivery, Message, Store},
    typed::Erased,
    worker::{Failure, Next, Worker},
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{
    AnyTicket, Does, Hand, Handled, Ticket, actors, create, does, each, message, opens, says,
    settle, status, ticket, ticket::Status, timed, worker,
};

const PAY: &str = r#"{"trigger": "pay", "amount": 3}"#;

/// A handler that fails with this, and counts its calls.
fn fails(calls: &Arc<AtomicUsize>) -> Does<AnyTicket> {
    let calls = Arc::clone(calls);
    does(move |_, _| {
        calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Err("the printer is on fire".into()) })
    })
}

/// The machine is set aside with this text.
async fn is_set_aside(store: &Store, id: Id, text: &str) {
    let machines = store.set_aside().await.unwrap().machines;
    assert_eq!(machines, [(id, Some(text.to_owned()))]);
}

/// A handler of this text that fails while others continue.
async fn set_aside_with(handler: fn(AnyTicket) -> Handled<'static, AnyTicket>, text: &str) {
    each(async |store: Store| {
        let (bad, fine) = (ticket(&store).await, ticket(&store).await);
        let by = actors().graph_runner;
        let handler = does(move |machine: AnyTicket, task| {
            if task.id() == bad {
                return handler(machine);
            }
            let next = match machine {
                AnyTicket::New(ticket) => Next::to(ticket.open(&by)),
                _ => Next::Wait,
            };
            Box::pin(async { Ok(next) })
        });
        settle(worker(&store).handler(handler)).await;
        is_set_aside(&store, bad, text).await;
        assert_eq!(status(&store, bad).await, Status::New);
        assert_eq!(status(&store, fine).await, Status::Open);
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    })
    .await;
}

#[derive(Debug, thiserror::Error)]
#[error("cannot print")]
struct Outer(#[source] Inner);

#[derive(Debug, thiserror::Error)]
#[error("no paper")]
struct Inner;

#[tokio::test]
async fn error_is_recorded_with_its_causes() {
    set_aside_with(
        |_| Box::pin(async { Err(Failure::from(Outer(Inner))) }),
        "cannot print: no paper",
    )
    .await;
}

#[tokio::test]
async fn panic_is_recorded() {
    let text = "the handler panicked: 17 pages";
    set_aside_with(
        |_| {
            Box::pin(async {
                tokio::task::yield_now().await;
                panic!("{} pages", 17)
            })
        },
        text,
    )
    .await;
}

#[tokio::test]
async fn panic_before_the_first_await() {
    set_aside_with(|_| panic!("at once"), "the handler panicked: at once").await;
}

#[tokio::test]
async fn panic_without_a_text() {
    set_aside_with(
        |_| Box::pin(async { std::panic::panic_any(17) }),
        "the handler panicked: without a message",
    )
    .await;
}

#[tokio::test]
async fn long_error_is_bounded() {
    each(async |store: Store| {
        ticket(&store).await;
        let handler =
            does(|_: AnyTicket, _| Box::pin(async { Err("x".repeat(10_000_000).into()) }));
        settle(worker(&store).handler(handler)).await;
        let machines = store.set_aside().await.unwrap().machines;
        assert!(machines[0].1.as_ref().unwrap().len() < 100_000);
    })
    .await;
}

#[tokio::test]
async fn another_machine() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let by = actors().graph_runner;
        let other = Ticket::new();
        let other_id = other.id();
        let other = std::sync::Mutex::new(Some(AnyTicket::from(other.open(&by))));
        let handler = does(move |_, _| {
            let other = other.lock().unwrap().take();
            Box::pin(async move { Ok(other.map_or(Next::Wait, Next::Commit)) })
        });
        settle(worker(&store).attempts(1).handler(handler)).await;
        let text = format!("the handler returned another machine, {other_id}");
        is_set_aside(&store, id, &text).await;
        store.load::<AnyTicket>(other_id).await.unwrap_err();
    })
    .await;
}

/// It is `Wait`.
#[tokio::test]
async fn commit_without_a_transition() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let handler = does(move |machine: AnyTicket, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move { Ok(Next::Commit(machine)) })
        });
        settle(worker(&store).handler(handler)).await;
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert_eq!(status(&store, id).await, Status::New);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
    })
    .await;
}

#[tokio::test]
async fn several_transitions_in_one_go() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let by = actors().graph_runner;
        let handler = does(move |machine: AnyTicket, _| {
            let next = match machine {
                AnyTicket::New(ticket) => Next::to(ticket.open(&by).lock(&by).unlock(&by)),
                _ => Next::Wait,
            };
            Box::pin(async { Ok(next) })
        });
        settle(worker(&store).handler(handler)).await;
        assert_eq!(status(&store, id).await, Status::Open);
        let history = store.history(id).await.unwrap();
        assert_eq!(history.entries.len(), 4, "{history:?}");
    })
    .await;
}

/// Each wait is twice as long, and no attempt comes early.
#[tokio::test]
async fn backoff() {
    timed(async |store: Store, hand: Hand| {
        let id = ticket(&store).await;
        let calls = Arc::new(AtomicUsize::new(0));
        let run = async || {
            let patient = Worker::new(&store, actors())
                .backoff(Duration::from_secs(1), Duration::from_secs(3))
                .handler(fails(&calls));
            settle(patient).await;
            calls.load(Ordering::SeqCst)
        };
        assert_eq!(run().await, 1);
        for (wait, most) in [(1000, 2), (2000, 3), (3000, 4), (3000, 5)] {
            hand.advance(Duration::from_millis(wait - 1));
            assert_eq!(run().await, most - 1);
            assert!(store.set_aside().await.unwrap().machines.is_empty());
            hand.advance(Duration::from_millis(1));
            assert_eq!(run().await, most);
        }
        is_set_aside(&store, id, "the printer is on fire").await;
        hand.advance(Duration::from_hours(1000));
        assert_eq!(run().await, 5);
    })
    .await;
}

/// News wakes the machine, and does not cut the backoff of its handler short.
#[tokio::test]
async fn messages_do_not_shorten_the_backoff() {
    timed(async |store: Store, _| {
        let id = ticket(&store).await;
        let calls = Arc::new(AtomicUsize::new(0));
        for number in 0..10 {
            store.send(id, &says(PAY, &number.to_string())).await.unwrap();
            settle(Worker::new(&store, actors()).handler(fails(&calls))).await;
        }
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
    })
    .await;
}

/// A message that its guard refuses is no reason to try a failing handler for ever.
#[tokio::test]
async fn refused_message_does_not_reset_the_attempts() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        settle(worker(&store).handler(opens())).await;
        let much = says(r#"{"trigger": "pay", "amount": 101}"#, "much");
        store.send(id, &much).await.unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        settle(worker(&store).handler(fails(&calls))).await;
        assert_eq!(calls.load(Ordering::SeqCst), 5);
        is_set_aside(&store, id, "the printer is on fire").await;
    })
    .await;
}

#[tokio::test]
async fn requeue_brings_a_machine_back() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let calls = Arc::new(AtomicUsize::new(0));
        settle(worker(&store).handler(fails(&calls))).await;
        is_set_aside(&store, id, "the printer is on fire").await;
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::New);
        store.requeue(id, &[]).await.unwrap();
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Open);
    })
    .await;
}

#[tokio::test]
async fn requeue_brings_a_message_back() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        store.send(id, &says("{}", "bad")).await.unwrap();
        store.send(id, &says("{}", "worse")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(store.set_aside().await.unwrap().messages.len(), 2);
        // All or nothing.
        let error = store.requeue(id, &["bad", "none"]).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{id} has no message `none`; `inbox` shows those that it has")
        );
        assert_eq!(store.set_aside().await.unwrap().messages.len(), 2);
        store.requeue(id, &["bad"]).await.unwrap();
        let bad = message(&store, id, "bad").await;
        assert_eq!((bad.status, bad.attempts, bad.error), (Delivery::Queued, 0, None));
        settle(worker(&store).handler(opens())).await;
        assert_eq!(message(&store, id, "bad").await.status, Delivery::SetAside);
    })
    .await;
}

#[tokio::test]
async fn machine_that_is_set_aside_takes_messages() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        settle(worker(&store).handler(opens())).await;
        let calls = Arc::new(AtomicUsize::new(0));
        store.requeue(id, &[]).await.unwrap();
        settle(worker(&store).handler(fails(&calls))).await;
        is_set_aside(&store, id, "the printer is on fire").await;
        store.send(id, &says(PAY, "pay")).await.unwrap();
        settle(worker(&store).handler(fails(&calls))).await;
        assert_eq!(status(&store, id).await, Status::Paid);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        assert_eq!(calls.load(Ordering::SeqCst), 5);
    })
    .await;
}

/// Code without a lease moves the machine on: the failure of the old state does not count any more.
#[tokio::test]
async fn outsider_clears_the_failure() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        settle(worker(&store).handler(fails(&Arc::default()))).await;
        is_set_aside(&store, id, "the printer is on fire").await;
        let AnyTicket::New(machine) = store.load(id).await.unwrap() else { panic!() };
        store.commit(&mut machine.open(&actors().graph_runner)).await.unwrap();
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        let calls = Arc::new(AtomicUsize::new(0));
        settle(worker(&store).handler(fails(&calls))).await;
        assert_eq!(calls.load(Ordering::SeqCst), 5);
    })
    .await;
}

/// A handler that never ends is handed back at a graceful stop; that is no failed attempt.
#[tokio::test]
async fn handler_that_never_ends_is_handed_back() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        for _ in 0..3 {
            let started = Arc::new(tokio::sync::Notify::new());
            let begun = Arc::clone(&started);
            let handler = does(move |_: AnyTicket, _| {
                begun.notify_one();
                Box::pin(std::future::pending())
            });
            let stuck =
                worker(&store).attempts(2).grace(Duration::from_millis(10)).handler(handler);
            let running = stuck.start();
            started.notified().await;
            running.stop().await.unwrap();
        }
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Open);
    })
    .await;
}

/// A graceful stop waits for a handler that ends.
#[tokio::test]
async fn graceful_stop_finishes() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let by = actors().graph_runner;
        let started = Arc::new(tokio::sync::Notify::new());
        let begun = Arc::clone(&started);
        let handler = does(move |machine: AnyTicket, _| {
            begun.notify_one();
            let next = match machine {
                AnyTicket::New(ticket) => Next::to(ticket.open(&by)),
                _ => Next::Wait,
            };
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(next)
            })
        });
        let running = worker(&store).handler(handler).start();
        started.notified().await;
        running.stop().await.unwrap();
        assert_eq!(status(&store, id).await, Status::Open);
    })
    .await;
}

/// A newer definition of the same machine: DRAWN is new.
mod newer {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Sketch {
        #[initial]
        #[on(draw => Drawn, by = GraphRunner)]
        Blank,
        #[on(hang => Hung, by = GraphRunner)]
        Drawn,
        #[terminal]
        Hung,
    }
}

mod older {
    use super::*;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Sketch {
        #[initial]
        #[on(hang => Hung, by = GraphRunner)]
        Blank,
        #[terminal]
        Hung,
    }
}

/// It leaves alone what it cannot read, without a failed attempt, and does the rest.
#[tokio::test]
async fn worker_of_an_older_definition() {
    each(async |store: Store| {
        let by = actors().graph_runner;
        let old = create(&store, older::Sketch::new()).await;
        let new = create(&store, newer::Sketch::new().draw(&by)).await;
        let hang = actors().graph_runner;
        let older = does(move |machine: older::AnySketch, _| {
            let next = match machine {
                older::AnySketch::Blank(sketch) => Next::to(sketch.hang(&hang)),
                older::AnySketch::Hung(_) => Next::Wait,
            };
            Box::pin(async { Ok(next) })
        });
        settle(worker(&store).handler(older)).await;
        assert!(store.load::<older::AnySketch>(new).await.is_err());
        assert_eq!(store.set_aside().await.unwrap(), machine::store::SetAside::default());
        let machine = store.load::<older::AnySketch>(old).await.unwrap();
        assert_eq!(machine.state_index(), 1);

        let newer = does(move |machine: newer::AnySketch, _| {
            let next = match machine {
                newer::AnySketch::Drawn(sketch) => Next::to(sketch.hang(&by)),
                newer::AnySketch::Blank(_) | newer::AnySketch::Hung(_) => Next::Wait,
            };
            Box::pin(async { Ok(next) })
        });
        settle(worker(&store).handler(newer)).await;
        let machine = store.load::<newer::AnySketch>(new).await.unwrap();
        assert_eq!(machine.status(), newer::sketch::Status::Hung);
    })
    .await;
}

/// One that takes too long is stopped, fails, and does not keep others from their turn.
#[tokio::test]
async fn handler_that_never_ends_has_a_limit() {
    each(async |store: Store| {
        let id = create(&store, older::Sketch::new()).await;
        let never = does(|_: older::AnySketch, _| Box::pin(std::future::pending()));
        let limited = worker(&store).attempts(2).handler_limit(Duration::from_millis(5));
        settle(limited.handler(never)).await;
        let text = "the handler took longer than 5ms and was stopped".to_owned();
        assert_eq!(store.set_aside().await.unwrap().machines, [(id, Some(text))]);
    })
    .await;
}

/// A message that only the newer program knows waits for it, no matter which program wrote the machine.
#[tokio::test]
async fn message_of_a_newer_definition() {
    each(async |store: Store| {
        let draw = r#"{"trigger": "draw"}"#;
        let ids = [
            create(&store, newer::Sketch::new()).await,
            create(&store, older::Sketch::new()).await,
        ];
        for id in ids {
            let draw = Message::from_json(draw, &actors().graph_runner).unwrap();
            store.send(id, &draw).await.unwrap();
        }
        let older = does(|_: older::AnySketch, _| Box::pin(async { Ok(Next::Wait) }));
        settle(worker(&store).handler(older)).await;
        assert_eq!(store.set_aside().await.unwrap(), machine::store::SetAside::default());
        let newer = does(|_: newer::AnySketch, _| Box::pin(async { Ok(Next::Wait) }));
        settle(worker(&store).handler(newer)).await;
        for id in ids {
            let machine = store.load::<newer::AnySketch>(id).await.unwrap();
            assert_eq!(machine.status(), newer::sketch::Status::Drawn);
        }
    })
    .await;
}
