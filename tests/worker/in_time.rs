//! Workers that come late, after a deadline was due: what came in time wins over the deadline, and what came later does
//! not.

use machine::{clock::Millis, store::Cause};

use crate::worker::prelude::*;

/// When the deadline of an offer is due.
const DUE: Millis = 10_000;
const HOUR: Millis = 3_600_000;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn is_fair(_: &offer::Open, price: &u32) -> Result<(), TooMuch> {
    assert!(*price != 13, "unlucky");
    if *price > 100 { Err(TooMuch) } else { Ok(()) }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Offer {
    #[initial]
    #[on(accept(price) => Accepted, by = Human, guard = is_fair -> TooMuch)]
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
    #[on(go => There, by = Human)]
    Here,
    #[group(Active)]
    #[on(arrive => Arrived, by = Human)]
    There,
    #[terminal]
    Arrived,
    #[terminal]
    Lost,
}

const ACCEPT: &str = r#"{"trigger": "accept", "price": 3}"#;
const DEAR: &str = r#"{"trigger": "accept", "price": 101}"#;
const UNLUCKY: &str = r#"{"trigger": "accept", "price": 13}"#;
const SHELVE: &str = r#"{"trigger": "shelve"}"#;
const REOPEN: &str = r#"{"trigger": "reopen"}"#;

fn resting(store: &Store) -> Worker {
    worker(store).attempts(3).handler(rests::<AnyOffer>()).handler(rests::<AnyTrip>())
}

/// Sends these messages, each so long after the creation of an offer, and lets a worker come so long after the deadline.
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

/// It is tried as often as it may be, and then the deadline fires. Until then others pass that were in time, and no others.
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

/// What waits for another state or another program, or is refused by a guard, does not hold the deadline.
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
