//! The results that a handler may return, and the fate of a machine whose handler fails.

use machine::worker::Failure;
use machine_tests::version;
use tokio::sync::Notify;

use crate::worker::prelude::*;

const ON_FIRE: &str = "the printer is on fire";

#[derive(Debug, thiserror::Error)]
#[error("cannot print")]
struct Outer(#[source] Inner);

#[derive(Debug, thiserror::Error)]
#[error("no paper")]
struct Inner;

/// The machine is set aside with the text of its failure, and others continue.
#[test]
fn failure_is_recorded() {
    type Handles = fn() -> Handling<'static, AnyTicket>;
    let table: [(Handles, &str); 4] = [
        (|| Box::pin(async { Err(Failure::from(Outer(Inner))) }), "cannot print: no paper"),
        (
            || {
                Box::pin(async {
                    tokio::task::yield_now().await;
                    panic!("{} pages", 17)
                })
            },
            "the handler panicked: 17 pages",
        ),
        // Before the first await.
        (|| panic!("at once"), "the handler panicked: at once"),
        (
            || Box::pin(async { std::panic::panic_any(17) }),
            "the handler panicked: without a message",
        ),
    ];
    for (handles, text) in table {
        each(async |store| {
            let (bad, fine) = (ticket(&store).await, ticket(&store).await);
            let handler = does(move |machine: AnyTicket, task| match machine {
                _ if task.id() == bad => handles(),
                AnyTicket::New(it) => Box::pin(async { Ok(Next::to(it.open(graph_runner()))) }),
                _ => Box::pin(async { Ok(Next::Wait) }),
            });
            settle(worker(&store).handler(handler)).await;
            set_aside(&store, &[(bad, text)]).await;
            is(&store, bad, "new").await;
            is(&store, fine, "open").await;
        });
    }
}

#[test]
fn long_error_is_bounded() {
    each(async |store| {
        ticket(&store).await;
        let long = does(|_: AnyTicket, _| Box::pin(async { Err("x".repeat(10_000_000).into()) }));
        settle(worker(&store).handler(long)).await;
        let machines = store.set_aside().await.unwrap().machines;
        assert!(machines[0].1.as_ref().unwrap().len() < 100_000);
    });
}

#[test]
fn another_machine() {
    each(async |store| {
        let id = ticket(&store).await;
        let other = Ticket::new().open(graph_runner());
        let other_id = other.id();
        let other = Mutex::new(Some(AnyTicket::from(other)));
        let handler =
            moves(move |_, _| other.lock().unwrap().take().map_or(Next::Wait, Next::Commit));
        settle(worker(&store).attempts(1).handler(handler)).await;
        let text = format!("the handler returned a different machine: {other_id}");
        set_aside(&store, &[(id, &text)]).await;
        store.load::<AnyTicket>(other_id).await.unwrap_err();
    });
}

/// It is not taken for `Wait`: the machine would stand still, and nobody would know.
#[test]
fn commit_without_a_transition() {
    each(async |store| {
        let (id, calls) = (ticket(&store).await, Count::default());
        let counted = calls.clone();
        let handler = moves(move |machine: AnyTicket, _| {
            counted.add();
            Next::Commit(machine)
        });
        settle(worker(&store).handler(handler)).await;
        assert_eq!(calls.get(), 5);
        is(&store, id, "new").await;
        let text = "the handler returned the machine without a transition; if there is nothing to do, return \
                    `Next::Wait`";
        set_aside(&store, &[(id, text)]).await;
    });
}

#[test]
fn several_transitions_in_one_go() {
    each(async |store| {
        let (id, by) = (ticket(&store).await, graph_runner());
        let handler = moves(move |machine, _| match machine {
            AnyTicket::New(ticket) => Next::to(ticket.open(by).lock(by).unlock(by)),
            _ => Next::Wait,
        });
        settle(worker(&store).handler(handler)).await;
        is(&store, id, "open").await;
        let history = store.history(id).await.unwrap();
        assert_eq!(history.entries.len(), 4, "{history:?}");
    });
}

/// Each wait is twice as long, and an attempt comes at most a fifth of it early.
#[test]
fn backoff() {
    timed(async |store, hand| {
        let (id, calls) = (ticket(&store).await, Count::default());
        let run = async |wait| {
            hand.pass(Duration::from_millis(wait));
            let (first, longest) = (Duration::from_secs(1), Duration::from_secs(3));
            let patient = Worker::new(&store, actors()).backoff(first, longest);
            settle(patient.handler(fails::<AnyTicket>(&calls))).await;
            calls.get()
        };
        assert_eq!(run(0).await, 1);
        for (wait, most) in [(1000, 2), (2000, 3), (3000, 4), (3000, 5)] {
            assert_eq!(run(wait / 5 * 4 - 1).await, most - 1);
            set_aside(&store, &[]).await;
            assert_eq!(run(wait / 5 + 1).await, most);
        }
        set_aside(&store, &[(id, ON_FIRE)]).await;
        assert_eq!(run(3_600_000_000).await, 5);
    });
}

/// Machines that failed together are not all tried again together, and none of them late.
#[test]
fn backoff_is_spread() {
    timed(async |store, hand| {
        for _ in 0..40 {
            ticket(&store).await;
        }
        let calls = Count::default();
        let run = async |wait| {
            hand.pass(Duration::from_millis(wait));
            let delay = Duration::from_secs(10);
            let patient = Worker::new(&store, actors()).backoff(delay, delay);
            settle(patient.handler(fails::<AnyTicket>(&calls))).await;
            calls.get()
        };
        assert_eq!(run(0).await, 40);
        assert_eq!(run(7_999).await, 40);
        let early = run(1_001).await;
        assert!(early > 40 && early < 80, "{early}");
        assert_eq!(run(1_000).await, 80);
    });
}

/// News wakes the machine, and does not cut the backoff of its handler short.
#[test]
fn messages_do_not_shorten_the_backoff() {
    each(async |store| {
        let (id, calls) = (ticket(&store).await, Count::default());
        for number in 0..10 {
            store.send(id, &says(PAY, &number.to_string())).await.unwrap();
            settle(Worker::new(&store, actors()).handler(fails::<AnyTicket>(&calls))).await;
        }
        assert_eq!(calls.get(), 1);
        set_aside(&store, &[]).await;
    });
}

/// A message that its guard refuses does not keep a failing handler retrying.
#[test]
fn refused_message_does_not_reset_the_attempts() {
    each(async |store| {
        let (id, calls) = (ticket(&store).await, Count::default());
        settle(worker(&store).handler(opens())).await;
        let much = says(r#"{"trigger": "pay", "amount": 101}"#, "much");
        store.send(id, &much).await.unwrap();
        settle(worker(&store).handler(fails::<AnyTicket>(&calls))).await;
        assert_eq!(calls.get(), 5);
        set_aside(&store, &[(id, ON_FIRE)]).await;
    });
}

#[test]
fn requeue_brings_a_machine_back() {
    each(async |store| {
        let id = ticket(&store).await;
        settle(worker(&store).handler(fails::<AnyTicket>(&Count::default()))).await;
        set_aside(&store, &[(id, ON_FIRE)]).await;
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "new").await;
        store.requeue(id, &[]).await.unwrap();
        set_aside(&store, &[]).await;
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "open").await;
    });
}

#[test]
fn machine_that_is_set_aside_takes_messages() {
    each(async |store| {
        let (id, calls) = (ticket(&store).await, Count::default());
        settle(worker(&store).handler(opens())).await;
        store.requeue(id, &[]).await.unwrap();
        settle(worker(&store).handler(fails::<AnyTicket>(&calls))).await;
        set_aside(&store, &[(id, ON_FIRE)]).await;
        store.send(id, &says(PAY, "pay")).await.unwrap();
        settle(worker(&store).handler(fails::<AnyTicket>(&calls))).await;
        is(&store, id, "paid").await;
        set_aside(&store, &[]).await;
        assert_eq!(calls.get(), 5);
    });
}

/// Code without a lease advances the machine: the failure of the old state no longer counts.
#[test]
fn outsider_clears_the_failure() {
    each(async |store| {
        let (id, calls) = (ticket(&store).await, Count::default());
        settle(worker(&store).handler(fails::<AnyTicket>(&calls))).await;
        set_aside(&store, &[(id, ON_FIRE)]).await;
        let AnyTicket::New(machine) = store.load(id).await.unwrap() else { panic!() };
        store.commit(&mut machine.open(graph_runner())).await.unwrap();
        set_aside(&store, &[]).await;
        settle(worker(&store).handler(fails::<AnyTicket>(&calls))).await;
        assert_eq!(calls.get(), 10);
    });
}

/// A handler that never ends is handed back at a graceful stop, which is not a failed attempt.
#[test]
fn handler_that_never_ends_is_handed_back() {
    each(async |store| {
        let id = ticket(&store).await;
        for _ in 0..3 {
            let started = Arc::new(Notify::new());
            let begun = Arc::clone(&started);
            let handler = does(move |_: AnyTicket, _| {
                begun.notify_one();
                Box::pin(std::future::pending())
            });
            let stuck = worker(&store).attempts(2).grace(Duration::from_millis(10));
            let running = stuck.handler(handler).start();
            notified(&started).await;
            running.stop().await.unwrap();
        }
        set_aside(&store, &[]).await;
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "open").await;
    });
}

version!(mod older [] enum Sketch {
    #[initial]
    #[on(hang => Hung, by = GraphRunner)]
    Blank,
    #[terminal]
    Hung,
});

// A newer definition of the same machine: DRAWN is new.
version!(mod newer [] enum Sketch {
    #[initial]
    #[on(draw => Drawn, by = GraphRunner)]
    Blank,
    #[on(hang => Hung, by = GraphRunner)]
    Drawn,
    #[terminal]
    Hung,
});

/// It leaves alone what it cannot read, without a failed attempt, and does the rest.
#[test]
fn worker_of_an_older_definition() {
    each(async |store| {
        let by = graph_runner();
        let old = create(&store, older::Sketch::new()).await;
        let new = create(&store, newer::Sketch::new().draw(by)).await;
        let hangs = moves(move |machine, _| match machine {
            older::AnySketch::Blank(sketch) => Next::to(sketch.hang(by)),
            older::AnySketch::Hung(_) => Next::Wait,
        });
        settle(worker(&store).handler(hangs)).await;
        assert!(store.load::<older::AnySketch>(new).await.is_err());
        assert_eq!(store.set_aside().await.unwrap(), machine::store::SetAside::default());
        is(&store, old, "hung").await;
        let hangs = moves(move |machine, _| match machine {
            newer::AnySketch::Drawn(sketch) => Next::to(sketch.hang(by)),
            newer::AnySketch::Blank(_) | newer::AnySketch::Hung(_) => Next::Wait,
        });
        settle(worker(&store).handler(hangs)).await;
        is(&store, new, "hung").await;
    });
}

/// A message that only the newer program knows waits for it, no matter which program wrote the
/// machine.
#[test]
fn message_of_a_newer_definition() {
    each(async |store| {
        let ids = [
            create(&store, newer::Sketch::new()).await,
            create(&store, older::Sketch::new()).await,
        ];
        for id in ids {
            store.send(id, &tells(r#"{"trigger": "draw"}"#, "draw")).await.unwrap();
        }
        settle(worker(&store).handler(rests::<older::AnySketch>())).await;
        assert_eq!(store.set_aside().await.unwrap(), machine::store::SetAside::default());
        settle(worker(&store).handler(rests::<newer::AnySketch>())).await;
        for id in ids {
            is(&store, id, "drawn").await;
        }
    });
}

/// One that takes too long is stopped, fails, and does not keep others from their turn.
#[test]
fn handler_that_never_ends_has_a_limit() {
    each(async |store| {
        let id = ticket(&store).await;
        let never = does(|_: AnyTicket, _| Box::pin(std::future::pending()));
        let limited = worker(&store).attempts(2).handler_limit(Duration::from_millis(5));
        settle(limited.handler(never)).await;
        set_aside(&store, &[(id, "the handler took longer than 5ms and was stopped")]).await;
    });
}
