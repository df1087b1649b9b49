//! Deadlines of states and groups, and handlers that ask to be called again.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    actor::GraphRunner,
    machine,
    store::{Message, Store},
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};

use crate::worker::support::{Does, Hand, actors, create, does, settle, timed, worker};

#[derive(Debug)]
struct Sealed;

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the wax holds")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn is_unsealed(state: &parcel::Kept) -> Result<(), Sealed> {
    if state.sealed { Err(Sealed) } else { Ok(()) }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Parcel {
    #[initial]
    #[on(keep(sealed) => Kept, by = GraphRunner)]
    #[on(wait => Waiting, by = GraphRunner)]
    #[on(rot => Rotten, by = GraphRunner, after = Duration::from_secs(5))]
    New,
    #[on(open => Opened, by = GraphRunner, guard = is_unsealed -> Sealed, after = Duration::from_secs(5))]
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

use parcel::Status;

#[machine(durable, on(lose => Lost, from = Active, by = GraphRunner, after = Duration::from_secs(5)))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Trip {
    #[initial]
    #[group(Active)]
    #[on(go => There, by = GraphRunner)]
    Here,
    #[group(Active)]
    There,
    #[terminal]
    Lost,
}

/// A handler that waits, and counts its calls.
fn waits(calls: &Arc<AtomicUsize>) -> Does<AnyParcel> {
    let calls = Arc::clone(calls);
    does(move |_, _| {
        calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Next::Wait) })
    })
}

fn fails() -> Does<AnyParcel> {
    does(move |_, _| Box::pin(async { Err("no".into()) }))
}

async fn status(store: &Store, id: machine::Id) -> Status {
    store.load::<AnyParcel>(id).await.unwrap().status()
}

#[tokio::test]
async fn fires_when_due_and_not_before() {
    timed(async |store: Store, hand: Hand| {
        let id = create(&store, Parcel::new()).await;
        let calls = Arc::default();
        for wait in [4999, 0] {
            settle(worker(&store).handler(waits(&calls))).await;
            assert_eq!(status(&store, id).await, Status::New);
            hand.advance(Duration::from_millis(wait));
        }
        hand.advance(Duration::from_millis(1));
        settle(worker(&store).handler(waits(&calls))).await;
        assert_eq!(status(&store, id).await, Status::Rotten);
    })
    .await;
}

/// The deadline of a group counts from entering the group.
#[tokio::test]
async fn deadline_of_a_group() {
    timed(async |store: Store, hand: Hand| {
        let id = create(&store, Trip::new()).await;
        let by = actors().graph_runner;
        hand.advance(Duration::from_secs(4));
        let AnyTrip::Here(trip) = store.load(id).await.unwrap() else { panic!() };
        store.commit(&mut trip.go(&by)).await.unwrap();
        let still = || does(|_: AnyTrip, _| Box::pin(async { Ok(Next::Wait) }));
        hand.advance(Duration::from_millis(999));
        settle(worker(&store).handler(still())).await;
        assert_eq!(store.load::<AnyTrip>(id).await.unwrap().status(), trip::Status::There);
        hand.advance(Duration::from_millis(1));
        settle(worker(&store).handler(still())).await;
        assert_eq!(store.load::<AnyTrip>(id).await.unwrap().status(), trip::Status::Lost);
    })
    .await;
}

/// The failure of the handler does not hold the deadline back.
#[tokio::test]
async fn fires_while_the_machine_is_set_aside() {
    timed(async |store: Store, hand: Hand| {
        let id = create(&store, Parcel::new()).await;
        settle(worker(&store).handler(fails())).await;
        assert_eq!(store.set_aside().await.unwrap().machines.len(), 1);
        assert_eq!(status(&store, id).await, Status::New);
        hand.advance(Duration::from_secs(6));
        settle(worker(&store).handler(fails())).await;
        assert_eq!(status(&store, id).await, Status::Rotten);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
    })
    .await;
}

/// So it is while the handler backs off.
#[tokio::test]
async fn fires_while_the_handler_backs_off() {
    timed(async |store: Store, hand: Hand| {
        let id = create(&store, Parcel::new()).await;
        let long = Duration::from_hours(1);
        settle(Worker::new(&store, actors()).backoff(long, long).handler(fails())).await;
        hand.advance(Duration::from_secs(6));
        settle(Worker::new(&store, actors()).backoff(long, long).handler(fails())).await;
        assert_eq!(status(&store, id).await, Status::Rotten);
    })
    .await;
}

/// It is tried again, then set aside; the handler and messages are not blocked.
#[tokio::test]
async fn guard_of_a_deadline_refuses() {
    timed(async |store: Store, hand: Hand| {
        let by = actors().graph_runner;
        let id = create(&store, Parcel::new().keep(true, &by)).await;
        let calls = Arc::default();
        settle(worker(&store).handler(waits(&calls))).await;
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        hand.advance(Duration::from_secs(6));
        settle(worker(&store).handler(waits(&calls))).await;
        assert_eq!(status(&store, id).await, Status::Kept);
        let machines = store.set_aside().await.unwrap().machines;
        let text = "KEPT is due to `open`, but its guard refused: the wax holds; it stays due";
        assert_eq!(machines, [(id, Some(text.to_owned()))]);

        let burn = Message::from_json(r#"{"trigger": "burn"}"#, &by).unwrap();
        store.send(id, &burn).await.unwrap();
        settle(worker(&store).handler(waits(&calls))).await;
        assert_eq!(status(&store, id).await, Status::Burnt);
    })
    .await;
}

/// While it backs off, the machine rests: the worker does not look again and again.
#[tokio::test]
async fn refused_deadline_backs_off() {
    timed(async |store: Store, hand: Hand| {
        let by = actors().graph_runner;
        let id = create(&store, Parcel::new().keep(true, &by)).await;
        let calls = Arc::default();
        hand.advance(Duration::from_secs(6));
        settle(Worker::new(&store, actors()).handler(waits(&calls))).await;
        assert_eq!(status(&store, id).await, Status::Kept);
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        for _ in 0..10 {
            hand.advance(Duration::from_mins(5));
            settle(Worker::new(&store, actors()).handler(waits(&calls))).await;
        }
        assert_eq!(store.set_aside().await.unwrap().machines.len(), 1);
    })
    .await;
}

/// A refused deadline does not stop messages in the meantime.
#[tokio::test]
async fn message_while_a_deadline_backs_off() {
    timed(async |store: Store, hand: Hand| {
        let by = actors().graph_runner;
        let id = create(&store, Parcel::new().keep(true, &by)).await;
        let calls = Arc::default();
        hand.advance(Duration::from_secs(6));
        let burn = Message::from_json(r#"{"trigger": "burn"}"#, &by).unwrap();
        store.send(id, &burn).await.unwrap();
        settle(Worker::new(&store, actors()).handler(waits(&calls))).await;
        assert_eq!(status(&store, id).await, Status::Burnt);
    })
    .await;
}

/// The one that was due first, although both are.
#[tokio::test]
async fn several_are_due() {
    timed(async |store: Store, hand: Hand| {
        let by = actors().graph_runner;
        let id = create(&store, Parcel::new().wait(&by)).await;
        hand.advance(Duration::from_secs(20));
        settle(worker(&store).handler(waits(&Arc::default()))).await;
        // The deadline of REMINDED counts from the transition.
        assert_eq!(status(&store, id).await, Status::Reminded);
        hand.advance(Duration::from_secs(20));
        settle(worker(&store).handler(waits(&Arc::default()))).await;
        assert_eq!(status(&store, id).await, Status::Burnt);
    })
    .await;
}

/// Machines without a handler of their state have deadlines all the same; no handler is called twice.
#[tokio::test]
async fn wait_for() {
    timed(async |store: Store, hand: Hand| {
        let by = actors().graph_runner;
        create(&store, Parcel::new().keep(true, &by)).await;
        let calls = Arc::new(AtomicUsize::new(0));
        let run = async || {
            let counted = Arc::clone(&calls);
            let handler = does(move |_: AnyParcel, _| {
                counted.fetch_add(1, Ordering::SeqCst);
                Box::pin(async { Ok(Next::WaitFor(Duration::from_secs(2))) })
            });
            settle(worker(&store).handler(handler)).await;
            calls.load(Ordering::SeqCst)
        };
        assert_eq!(run().await, 1);
        hand.advance(Duration::from_millis(1999));
        assert_eq!(run().await, 1);
        hand.advance(Duration::from_millis(1));
        assert_eq!(run().await, 2);
    })
    .await;
}

/// A wait that is longer than any clock is `Wait`.
#[tokio::test]
async fn wait_for_ever() {
    timed(async |store: Store, hand: Hand| {
        let id = create(&store, Parcel::new()).await;
        let handler =
            || does(|_: AnyParcel, _| Box::pin(async { Ok(Next::WaitFor(Duration::MAX)) }));
        settle(worker(&store).handler(handler())).await;
        hand.advance(Duration::from_secs(6));
        settle(worker(&store).handler(handler())).await;
        assert_eq!(status(&store, id).await, Status::Rotten);
    })
    .await;
}
