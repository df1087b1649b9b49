//! Deadlines of states, and handlers that ask to be called again.

use machine::clock::Millis;

use crate::worker::prelude::*;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn is_unsealed(state: &parcel::Kept) -> Result<(), String> {
    if state.sealed { Err("the wax holds".to_owned()) } else { Ok(()) }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Parcel {
    #[initial]
    #[on(keep(sealed) => Kept, by = GraphRunner)]
    #[on(wait => Waiting, by = GraphRunner)]
    #[on(rot => Rotten, by = GraphRunner, after = Duration::from_secs(5))]
    New,
    #[on(open => Opened, by = GraphRunner, guard = is_unsealed -> String, after = Duration::from_secs(5))]
    #[on(burn => Burnt, by = GraphRunner)]
    Kept { sealed: bool },
    #[on(remind => Reminded, by = GraphRunner, after = Duration::from_secs(5))]
    #[on(burn => Burnt, by = GraphRunner, after = Duration::from_secs(9))]
    Waiting,
    #[on(burn => Burnt, by = GraphRunner, after = Duration::from_secs(5))]
    Reminded,
    #[terminal]
    Opened,
    #[terminal]
    Burnt,
    #[terminal]
    Rotten,
}

/// A worker that rests in all states.
fn resting(store: &Store) -> Worker {
    worker(store).handler(rests::<AnyParcel>())
}

/// A worker that tries again after the usual time.
fn patient(store: &Store) -> Worker {
    Worker::new(store, actors()).handler(rests::<AnyParcel>())
}

fn kept() -> Parcel<parcel::Kept> {
    Parcel::new().keep(true, graph_runner())
}

/// Nor does the machine keep its worker busy until then. The clock may go back meanwhile.
#[test]
fn fires_when_due_and_not_before() {
    const HOUR: Millis = 3_600_000;
    for waits in [[0, 0, 4_999], [0, -HOUR, HOUR + 4_999]] {
        timed(async |store, hand| {
            let id = create(&store, Parcel::new()).await;
            for wait in waits {
                hand.advance(wait);
                settle(resting(&store)).await;
                is(&store, id, "new").await;
            }
            hand.advance(1);
            settle(resting(&store)).await;
            is(&store, id, "rotten").await;
        });
    }
}

/// The failure of the handler does not hold the deadline back: neither while it backs off, nor when
/// the machine is set aside.
#[test]
fn fires_although_the_handler_fails() {
    for backoff in [Duration::ZERO, Duration::from_hours(1)] {
        timed(async |store, hand| {
            let id = create(&store, Parcel::new()).await;
            let failing = || {
                worker(&store)
                    .backoff(backoff, backoff)
                    .handler(fails::<AnyParcel>(&Count::default()))
            };
            settle(failing()).await;
            let aside = store.set_aside().await.unwrap().machines;
            assert_eq!(aside.len(), usize::from(backoff.is_zero()));
            is(&store, id, "new").await;
            hand.pass(Duration::from_secs(6));
            settle(failing()).await;
            is(&store, id, "rotten").await;
            set_aside(&store, &[]).await;
        });
    }
}

/// It is tried again, then set aside; the handler and messages are not blocked.
#[test]
fn guard_of_a_deadline_refuses() {
    timed(async |store, hand| {
        let id = create(&store, kept()).await;
        settle(resting(&store)).await;
        hand.pass(Duration::from_secs(6));
        settle(resting(&store)).await;
        is(&store, id, "kept").await;
        let text = "KEPT is due to `open`, but its guard refused: the wax holds; it stays due";
        set_aside(&store, &[(id, text)]).await;
        store.send(id, &tells(r#"{"trigger": "burn"}"#, "burn")).await.unwrap();
        settle(resting(&store)).await;
        is(&store, id, "burnt").await;
    });
}

/// While it backs off, the machine rests: the worker does not poll it, and takes its messages.
#[test]
fn refused_deadline_backs_off() {
    timed(async |store, hand| {
        let ids = [create(&store, kept()).await, create(&store, kept()).await];
        hand.pass(Duration::from_secs(6));
        store.send(ids[1], &tells(r#"{"trigger": "burn"}"#, "burn")).await.unwrap();
        settle(patient(&store)).await;
        is(&store, ids[0], "kept").await;
        is(&store, ids[1], "burnt").await;
        set_aside(&store, &[]).await;
        for _ in 0..10 {
            hand.pass(Duration::from_mins(5));
            settle(patient(&store)).await;
        }
        assert_eq!(store.set_aside().await.unwrap().machines.len(), 1);
    });
}

/// The one that was due first, although both are. The deadline of REMINDED counts from the
/// transition.
#[test]
fn several_are_due() {
    timed(async |store, hand| {
        let id = create(&store, Parcel::new().wait(graph_runner())).await;
        for expected in ["reminded", "burnt"] {
            hand.pass(Duration::from_secs(20));
            settle(resting(&store)).await;
            is(&store, id, expected).await;
        }
    });
}

/// A handler is called again when it has waited, and not before. A wait that is longer than any
/// clock is `Wait`.
#[test]
fn wait_for() {
    for (wait, [early, late]) in [(Duration::from_secs(2), [1, 2]), (Duration::MAX, [1, 1])] {
        timed(async |store, hand| {
            let (id, calls) = (create(&store, Parcel::new()).await, Count::default());
            let run = async |time| {
                hand.pass(Duration::from_millis(time));
                let counted = calls.clone();
                let waits = moves(move |_: AnyParcel, _| {
                    counted.add();
                    Next::WaitFor(wait)
                });
                settle(worker(&store).handler(waits)).await;
                calls.get()
            };
            assert_eq!([run(0).await, run(1999).await, run(1).await], [1, early, late]);
            run(4000).await;
            is(&store, id, "rotten").await;
        });
    }
}
