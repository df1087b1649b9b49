//! Workers that come late, after a deadline was due: what came in time wins over the deadline, and
//! what came later does not.

use machine::{
    clock::{Clock, Millis},
    store::Cause,
    worker::Handler,
};

use crate::worker::prelude::*;

/// When the deadline of an offer is due.
const DUE: Millis = 10_000;
const HOUR: Millis = 3_600_000;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn is_fair(_: &offer::Open, price: &u32) -> Result<(), String> {
    assert!(*price != 13, "unlucky");
    if *price > 100 { Err(TOO_MUCH.to_owned()) } else { Ok(()) }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Offer {
    #[initial]
    #[on(accept(price) => Accepted, by = Human, guard = is_fair -> String)]
    #[on(wish(text) => Wished, by = Customer)]
    #[on(shelve => Shelved, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(10))]
    Open,
    #[on(reopen => Open, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(10))]
    Shelved,
    #[terminal]
    Accepted { price: u32 },
    #[terminal]
    Wished { text: String },
    #[terminal]
    Expired,
}

#[machine(durable, on(lose => Lost, from = Active, by = GraphRunner, after = Duration::from_secs(10)))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Trip {
    #[initial]
    #[group(Active)]
    #[on(go => There, by = Human | GraphRunner)]
    Here,
    #[group(Active)]
    #[on(arrive => Arrived, by = Human)]
    There,
    #[terminal]
    Arrived,
    #[terminal]
    Lost,
}

/// It waits for its child.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Errand {
    #[initial]
    #[on(finish => Finished, by = GraphRunner)]
    #[on(stop => Stopped, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(10))]
    Out,
    #[terminal]
    Finished,
    #[terminal]
    Stopped,
    #[terminal]
    Expired,
}

const STOP: &str = r#"{"trigger": "stop"}"#;
const ACCEPT: &str = r#"{"trigger": "accept", "price": 3}"#;
const DEAR: &str = r#"{"trigger": "accept", "price": 101}"#;
const UNLUCKY: &str = r#"{"trigger": "accept", "price": 13}"#;
const SHELVE: &str = r#"{"trigger": "shelve"}"#;
const REOPEN: &str = r#"{"trigger": "reopen"}"#;

fn resting(store: &Store) -> Worker {
    worker(store).attempts(3).handler(rests::<AnyOffer>()).handler(rests::<AnyTrip>())
}

/// Sends these messages, each so long after the creation of an offer, and lets a worker come so
/// long after the deadline.
async fn offered(store: &Store, hand: &Hand, messages: &[(Millis, Message)], late: Millis) -> Id {
    let id = create(store, Offer::new()).await;
    sent(store, hand, (id, late), messages).await;
    id
}

async fn sent(
    store: &Store,
    hand: &Hand,
    (id, late): (Id, Millis),
    messages: &[(Millis, Message)],
) {
    settle(resting(store)).await;
    let mut passed = 0;
    for (at, message) in messages {
        hand.advance(at - passed);
        passed = *at;
        store.send(id, message).await.unwrap();
    }
    hand.advance(DUE.max(passed) - passed + late);
    settle(resting(store)).await;
}

#[test]
fn answer_before_at_and_after_the_deadline() {
    for (at, expected) in
        [(0, "accepted"), (DUE - 1, "accepted"), (DUE, "accepted"), (DUE + 1, "expired")]
    {
        for late in [0, 1, HOUR] {
            timed(async |store, hand| {
                let id = offered(&store, &hand, &[(at, says(ACCEPT, "answer"))], late).await;
                is(&store, id, expected).await;
                let status = message(&store, id, "answer").await.status;
                let lost = expected == "expired";
                assert_eq!(status, if lost { Delivery::SetAside } else { Delivery::Handled });
            });
        }
    }
}

/// It is tried as often as it may be, and then the deadline fires. Until then others pass that were
/// in time, and no others.
#[test]
fn a_message_that_fails_holds_the_deadline() {
    for (next, expected) in [(None, "expired"), (Some(2), "accepted"), (Some(DUE + 1), "expired")] {
        timed(async |store, hand| {
            let mut messages = vec![(1, says(UNLUCKY, "bad"))];
            messages.extend(next.map(|at| (at, says(ACCEPT, "good"))));
            let id = offered(&store, &hand, &messages, HOUR).await;
            is(&store, id, expected).await;
            let bad = message(&store, id, "bad").await;
            assert_eq!(bad.status, Delivery::SetAside);
            let (cause, attempts) =
                if expected == "expired" { (Cause::Panicked, 3) } else { (Cause::Ended, 1) };
            assert_eq!((bad.cause, bad.attempts), (Some(cause), attempts));
        });
    }
}

/// What waits for another state or another program, or is refused by a guard, does not hold the
/// deadline.
#[test]
fn what_is_not_taken_holds_nothing_up() {
    let wish = Message::from_json(r#"{"trigger": "wish", "text": "a horse"}"#, &Customer).unwrap();
    let bodies = [REOPEN, DEAR, "{}"].map(|body| says(body, "it"));
    for message in bodies.into_iter().chain([wish]) {
        timed(async |store, hand| {
            let id = offered(&store, &hand, &[(1, message.clone())], HOUR).await;
            is(&store, id, "expired").await;
        });
    }
}

/// Its deadlines count from the commit, however early the message was sent.
#[test]
fn a_state_that_is_entered_late_has_all_of_its_time() {
    timed(async |store, hand| {
        let id = offered(&store, &hand, &[(1, says(SHELVE, "shelve"))], HOUR).await;
        for (wait, expected) in [(0, "shelved"), (DUE - 1, "shelved"), (1, "expired")] {
            hand.advance(wait);
            settle(resting(&store)).await;
            is(&store, id, expected).await;
        }
    });
}

/// The deadline of a group runs on when a message moves the machine inside it.
#[test]
fn deadline_of_a_group_is_between_two_messages() {
    for (at, expected) in [(DUE, "arrived"), (DUE + 1, "lost")] {
        timed(async |store, hand| {
            let id = create(&store, Trip::new()).await;
            let go = says(r#"{"trigger": "go"}"#, "go");
            let arrive = says(r#"{"trigger": "arrive"}"#, "arrive");
            sent(&store, &hand, (id, HOUR), &[(1, go), (at, arrive)]).await;
            is(&store, id, expected).await;
        });
    }
}

/// Finishes errands once their lamp is off.
fn joins() -> Does<AnyErrand> {
    does(|errand: AnyErrand, task| {
        Box::pin(async move {
            let lamps = task.children::<AnyLamp>().await?;
            Ok(match (errand, &lamps[..]) {
                (AnyErrand::Out(errand), [AnyLamp::Off(_)]) => {
                    Next::to(errand.finish(graph_runner()))
                }
                _ => Next::Wait,
            })
        })
    })
}

/// Fails once their lamp is off, and counts that.
fn breaks(calls: &Count) -> Does<AnyErrand> {
    let calls = calls.clone();
    does(move |_, task| {
        let calls = calls.clone();
        Box::pin(async move {
            if let [AnyLamp::Off(_)] = task.children::<AnyLamp>().await?[..] {
                calls.add();
                return Err("the printer is on fire".into());
            }
            Ok(Next::Wait)
        })
    })
}

/// An errand whose child ends so long after its creation, and to which a message is sent at such a
/// time. Then no worker comes until an hour after the deadline.
async fn errand(
    store: &Store,
    hand: &Hand,
    driven: impl Handler,
    (ended, sent): (Option<Millis>, Option<Millis>),
) -> Id {
    let id = create(store, Errand::new()).await;
    let mut lamp = Lamp::new();
    store.batch().create_child(id, &mut lamp).write().await.unwrap();
    settle(worker(store).handler(driven)).await;
    let start = hand.now();
    let mut off = lamp.cancel(graph_runner());
    // On a tie the child is first, and the message still wins.
    if let Some(ended) = ended.filter(|ended| sent.is_none_or(|sent| *ended <= sent)) {
        hand.set(start + ended);
        store.commit(&mut off).await.unwrap();
    }
    if let Some(sent) = sent {
        hand.set(start + sent);
        store.send(id, &says(STOP, "stop")).await.unwrap();
    }
    if let Some(ended) = ended.filter(|ended| sent.is_some_and(|sent| *ended > sent)) {
        hand.set(start + ended);
        store.commit(&mut off).await.unwrap();
    }
    hand.set(start + DUE + HOUR);
    id
}

/// The handler is called before the deadline if a child ended in time, and before messages that
/// were sent later.
#[test]
fn end_of_a_child_before_at_and_after_the_deadline() {
    for (ended, sent, expected) in [
        (Some(DUE - 1), None, "finished"),
        (Some(DUE), None, "finished"),
        (Some(DUE + 1), None, "expired"),
        (Some(1), Some(2), "finished"),
        (Some(2), Some(2), "stopped"),
        (Some(2), Some(1), "stopped"),
        (Some(DUE + 1), Some(DUE), "stopped"),
        (Some(DUE + 1), Some(DUE + 2), "expired"),
        (Some(DUE), Some(DUE + 1), "finished"),
        (None, Some(DUE + 1), "expired"),
    ] {
        timed(async |store, hand| {
            let id = errand(&store, &hand, joins(), (ended, sent)).await;
            settle(worker(&store).handler(joins())).await;
            is(&store, id, expected).await;
        });
    }
}

/// It is called as often as it may be, and then the deadline fires. A child that ended later does
/// not hold it.
#[test]
fn a_handler_that_fails_holds_the_deadline() {
    for (ended, expected) in [(DUE, 3), (DUE + 1, 0)] {
        timed(async |store, hand| {
            let calls = Count::default();
            let id = errand(&store, &hand, breaks(&calls), (Some(ended), None)).await;
            settle(worker(&store).attempts(3).handler(breaks(&calls))).await;
            is(&store, id, "expired").await;
            assert_eq!(calls.get(), expected);
        });
    }
}

/// While it waits for its next attempt the machine rests, and takes messages that were in time, and
/// no others.
#[test]
fn a_handler_that_backs_off_lets_messages_pass() {
    for (sent, expected) in [(DUE, "stopped"), (DUE + 1, "out")] {
        timed(async |store, hand| {
            let calls = Count::default();
            let times = (Some(1), Some(sent));
            let id = errand(&store, &hand, breaks(&calls), times).await;
            let wait = Duration::from_hours(1);
            let patient = || worker(&store).attempts(3).backoff(wait, wait).handler(breaks(&calls));
            settle(patient()).await;
            is(&store, id, expected).await;
            assert_eq!(calls.get(), 1);
            for _ in 0..2 {
                hand.advance(2 * HOUR);
                settle(patient()).await;
            }
            is(&store, id, if expected == "out" { "expired" } else { expected }).await;
        });
    }
}

/// A message that comes while a handler runs, in time, is not seen by the worker when the handler
/// returns after the deadline.
#[test]
fn a_deadline_that_a_handler_outlasts_does_not_fire_unseen() {
    for (at, expected) in [(DUE, "arrived"), (DUE + 1, "lost")] {
        timed(async |store, hand| {
            let id = create(&store, Trip::new()).await;
            let late = hand.now() + DUE + 2;
            let sent_at = hand.now() + at;
            let (clock, sender) = (hand.clone(), store.clone());
            let handler = does(move |trip: AnyTrip, _| {
                let (clock, sender) = (clock.clone(), sender.clone());
                Box::pin(async move {
                    let AnyTrip::Here(trip) = trip else { return Ok(Next::Wait) };
                    clock.set(sent_at);
                    sender.send(id, &says(r#"{"trigger": "arrive"}"#, "arrive")).await?;
                    clock.set(late);
                    Ok(Next::to(trip.go(graph_runner())))
                })
            });
            settle(worker(&store).handler(handler)).await;
            is(&store, id, expected).await;
        });
    }
}

/// Fails once an offer is shelved, and counts that.
fn shelves(calls: &Count) -> Does<AnyOffer> {
    let calls = calls.clone();
    does(move |offer, _| {
        let calls = calls.clone();
        Box::pin(async move {
            if matches!(offer, AnyOffer::Shelved(_)) {
                calls.add();
                return Err("the printer is on fire".into());
            }
            Ok(Next::Wait)
        })
    })
}

/// A child that ended in an earlier state does not let the handler hold the deadline, whoever moved
/// the machine.
#[test]
fn the_end_of_a_child_concerns_no_later_state() {
    for by_message in [true, false] {
        timed(async |store, hand| {
            let (calls, wait) = (Count::default(), Duration::from_hours(1));
            let patient =
                || worker(&store).attempts(3).backoff(wait, wait).handler(shelves(&calls));
            settle(patient()).await;
            let id = create(&store, Offer::new()).await;
            let mut lamp = Lamp::new();
            store.batch().create_child(id, &mut lamp).write().await.unwrap();
            if by_message {
                store.send(id, &says(SHELVE, "shelve")).await.unwrap();
            }
            store.commit(&mut lamp.cancel(graph_runner())).await.unwrap();
            if !by_message {
                let AnyOffer::Open(open) = store.load(id).await.unwrap() else { panic!() };
                store.commit(&mut open.shelve(ann())).await.unwrap();
            }
            settle(patient()).await;
            is(&store, id, "shelved").await;
            hand.advance(DUE);
            settle(patient()).await;
            is(&store, id, "expired").await;
            assert_eq!(calls.get(), 1);
        });
    }
}
