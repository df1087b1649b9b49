//! The clock goes back, by an hour or by years. What was ready is taken, a worker's own timers are
//! due, and deadlines are not. It goes forward, and a lease ends.

use machine::{
    clock::{Clock, Millis},
    observe::Observer,
    view::Internal,
    worker::Handler,
};
use tokio::sync::Notify;

use crate::worker::prelude::*;

const HOUR: Millis = 3_600_000;

const YEAR: Millis = 365 * 24 * HOUR;

/// It waits for its children, at most for a day.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Errand {
    #[initial]
    #[on(finish => Finished, by = GraphRunner)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_hours(24))]
    Out,
    #[terminal]
    Finished,
    #[terminal]
    Expired,
}

/// Finishes errands once their lamp is off.
fn finishes(calls: &Count) -> Does<AnyErrand> {
    let calls = calls.clone();
    does(move |errand: AnyErrand, task| {
        calls.add();
        Box::pin(async move {
            let lamps = task.children::<AnyLamp>().await?;
            Ok(match (errand, &lamps[..]) {
                (AnyErrand::Out(errand), [AnyLamp::Off(_)]) => {
                    Next::to(errand.finish(graph_runner()))
                }
                _ => Next::WaitFor(Duration::from_mins(30)),
            })
        })
    })
}

/// A worker that tries again after two hours.
fn patient(store: &Store, handler: impl Handler) -> Worker {
    let wait = Duration::from_hours(2);
    Worker::new(store, actors()).backoff(wait, wait).handler(handler)
}

#[test]
fn ready_by_its_creation() {
    timed(async |store, hand| {
        // So that the kind is known before the clock goes back.
        settle(patient(&store, opens())).await;
        let ids = [ticket(&store).await, ticket(&store).await];
        hand.advance(-HOUR);
        let later = ticket(&store).await;
        settle(patient(&store, opens())).await;
        for id in [ids[0], ids[1], later] {
            is(&store, id, "open").await;
        }
    });
}

#[test]
fn ready_by_a_message() {
    timed(async |store, hand| {
        let id = ticket(&store).await;
        settle(patient(&store, opens())).await;
        store.send(id, &says(PAY, "pay")).await.unwrap();
        hand.advance(-HOUR);
        settle(patient(&store, opens())).await;
        is(&store, id, "paid").await;
    });
}

#[test]
fn ready_by_the_end_of_a_child() {
    timed(async |store, hand| {
        let parent = create(&store, Errand::new()).await;
        let mut lamp = Lamp::new();
        store.batch().create_child(parent, &mut lamp).write().await.unwrap();
        settle(patient(&store, finishes(&Count::default()))).await;
        is(&store, parent, "out").await;
        store.commit(&mut lamp.cancel(graph_runner())).await.unwrap();
        hand.advance(-HOUR);
        settle(patient(&store, finishes(&Count::default()))).await;
        is(&store, parent, "finished").await;
    });
}

#[test]
fn next_attempt_of_a_handler() {
    timed(async |store, hand| {
        let id = ticket(&store).await;
        let calls = Count::default();
        for expected in [1, 1] {
            settle(patient(&store, fails::<AnyTicket>(&calls))).await;
            assert_eq!(calls.get(), expected);
        }
        hand.advance(-HOUR);
        // It is tried once, and then waits from now on.
        for expected in [2, 2] {
            settle(patient(&store, fails::<AnyTicket>(&calls))).await;
            assert_eq!(calls.get(), expected);
        }
        hand.advance(-HOUR);
        settle(patient(&store, opens())).await;
        is(&store, id, "open").await;
    });
}

#[test]
fn handler_that_waits_for_a_time() {
    timed(async |store, hand| {
        create(&store, Errand::new()).await;
        let calls = Count::default();
        for (step, expected) in [(0, 1), (0, 1), (-HOUR, 2), (0, 2), (HOUR / 2, 3), (0, 3)] {
            hand.advance(step);
            settle(patient(&store, finishes(&calls))).await;
            assert_eq!(calls.get(), expected, "after {step} ms");
        }
    });
}

/// Nor does the machine keep its worker busy until then.
#[test]
fn deadline_of_a_state_never_fires_early() {
    timed(async |store, hand| {
        let id = create(&store, Errand::new()).await;
        let rest = || patient(&store, rests::<AnyErrand>());
        settle(rest()).await;
        for step in [-HOUR, 24 * HOUR, HOUR - 1] {
            hand.advance(step);
            settle(rest()).await;
            is(&store, id, "out").await;
        }
        hand.advance(1);
        settle(rest()).await;
        is(&store, id, "expired").await;
    });
}

/// The clock showed a later year when a machine was created. Its entry keeps that time, nothing
/// lasted for less than no time, and the next entry has the right time again.
#[test]
fn a_machine_from_a_later_year() {
    timed(async |store, hand| {
        settle(patient(&store, opens())).await;
        hand.advance(14 * YEAR);
        let id = ticket(&store).await;
        hand.advance(-14 * YEAR);
        let now = hand.now();
        let seen = async || {
            let shown = Observer::new(&store).snapshot::<Internal>(id).await.unwrap();
            (shown.status.clone(), shown.entered_at, shown.duration_in_state_ms)
        };
        assert_eq!(seen().await, ("new".to_owned(), now + 14 * YEAR, 0));
        settle(patient(&store, opens())).await;
        hand.advance(5);
        assert_eq!(seen().await, ("open".to_owned(), now, 5));
        let entries = store.history(id).await.unwrap().entries;
        let times: Vec<_> = entries.iter().map(|entry| entry.at).collect();
        assert_eq!(times, [now + 14 * YEAR, now]);
    });
}

/// The clock goes forward by an hour while a handler runs, so the lease of its worker ends: another
/// one takes over, and the transition is made once.
#[test]
fn a_lease_that_ends_early_by_the_clock() {
    timed(async |store, hand| {
        let id = ticket(&store).await;
        let hold = Arc::new((Notify::new(), Notify::new()));
        let held = Arc::clone(&hold);
        let holds = does(move |ticket: AnyTicket, _| {
            let hold = Arc::clone(&held);
            Box::pin(async move {
                let AnyTicket::New(ticket) = ticket else { return Ok(Next::Wait) };
                hold.0.notify_one();
                notified(&hold.1).await;
                Ok(Next::to(ticket.open(graph_runner())))
            })
        });
        // Not renewed while the test runs.
        let first = worker(&store).lease(Duration::from_mins(30)).handler(holds).start();
        notified(&hold.0).await;
        hand.advance(HOUR);
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "open").await;
        hold.1.notify_one();
        first.stop().await.unwrap();
        let entries = store.history(id).await.unwrap().entries;
        assert_eq!(entries.len(), 2, "{entries:?}");
    });
}
