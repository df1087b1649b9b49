//! The clock goes back, by an hour or by years: a worker's own timers are due.

use machine::{
    clock::{Clock, Millis},
    observe::Observer,
    view::Internal,
    worker::Handler,
};

use crate::worker::prelude::*;

const HOUR: Millis = 3_600_000;

const YEAR: Millis = 365 * 24 * HOUR;

/// A worker that tries again after two hours.
fn patient(store: &Store, handler: impl Handler) -> Worker {
    let wait = Duration::from_hours(2);
    Worker::new(store, actors()).backoff(wait, wait).handler(handler)
}

/// The handler counts its calls, and is due again after two hours. When the clock has gone back, it
/// is called once, and then waits from now on.
fn is_called_again(counts: impl Fn(&Count) -> Does<AnyTicket>) {
    timed(async |store, hand| {
        let id = ticket(&store).await;
        let calls = Count::default();
        for (back, expected) in [(0, 1), (0, 1), (HOUR, 2), (0, 2)] {
            hand.advance(-back);
            settle(patient(&store, counts(&calls))).await;
            assert_eq!(calls.get(), expected);
        }
        hand.advance(-HOUR);
        settle(patient(&store, opens())).await;
        is(&store, id, "open").await;
    });
}

/// The next attempt of a handler, and the time that it waits.
#[test]
fn a_handler_is_called_again() {
    is_called_again(fails::<AnyTicket>);
    is_called_again(|calls| {
        let calls = calls.clone();
        moves(move |_, _| {
            calls.add();
            Next::WaitFor(Duration::from_hours(2))
        })
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
