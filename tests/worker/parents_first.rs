//! Workers come late: a call does not begin before its parent has had its turn, if the deadline of
//! that is due or a person has paused it meanwhile. The worker of the tool may be another one,
//! which does not know the parent.

use machine::stored::Durable;

use crate::worker::prelude::*;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn is_open(_: &order::Paying) -> Result<(), String> {
    Err("the door is locked".to_owned())
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[invoke(charge: Charge = Charge { cents: 3 }, unattended)]
    #[on(pause => Paused, by = Human)]
    #[on(note => Self, by = GraphRunner)]
    #[on(enter => Paused, by = Human, guard = is_open -> String)]
    #[on(hide => Paused, by = Customer, detach)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(10))]
    Paying,
    #[on(resume => Paying, by = Human)]
    Paused,
    #[terminal]
    Expired,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn is_free(_: &rent::Running) -> Result<(), String> {
    Err("the door is locked".to_owned())
}

/// The guard of its deadline refuses.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Rent {
    #[initial]
    #[invoke(charge: Charge = Charge { cents: 3 }, unattended)]
    #[on(lapse => Lapsed, by = GraphRunner, guard = is_free -> String, after = Duration::from_secs(10))]
    Running,
    #[terminal]
    Lapsed,
}

const PAUSE: &str = r#"{"trigger": "pause"}"#;
const NOTE: &str = r#"{"trigger": "note"}"#;
const ENTER: &str = r#"{"trigger": "enter"}"#;
const RESUME: &str = r#"{"trigger": "resume"}"#;
const HIDE: &str = r#"{"trigger": "hide"}"#;

const DUE: Duration = Duration::from_secs(10);

/// After this time, a call that waits is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

const HOUR: Duration = Duration::from_hours(1);

/// An order that workers drive, and its call.
async fn order(store: &Store) -> (Id, Id) {
    settle(worker(store).handler(rests::<AnyOrder>())).await;
    undriven(store).await
}

/// An order, and its call.
async fn undriven(store: &Store) -> (Id, Id) {
    with_call(store, Order::new()).await
}

/// A machine, and its call.
async fn with_call(store: &Store, machine: impl Durable) -> (Id, Id) {
    let id = create(store, machine).await;
    let call = store.children(id).await.unwrap().remove(0);
    (id, call.id)
}

/// The worker of the tool alone.
fn bank_alone(store: &Store, bank: &Service) -> Worker {
    worker(store).tool::<Charge>(bank.clone())
}

fn both(store: &Store, bank: &Service) -> Worker {
    bank_alone(store, bank).handler(rests::<AnyOrder>())
}

#[test]
fn a_call_waits_for_a_pause_and_for_a_deadline_of_its_parent() {
    for (ends, alone) in
        [("paused", true), ("paused", false), ("expired", true), ("expired", false)]
    {
        timed(async |store, hand| {
            let ((id, call), bank) = (order(&store).await, Service::default());
            if ends == "paused" {
                store.send(id, &says(PAUSE, "pause")).await.unwrap();
            } else {
                hand.pass(DUE);
            }
            if alone {
                settle(bank_alone(&store, &bank)).await;
                is(&store, call, "pending").await;
            }
            settle(both(&store, &bank)).await;
            is(&store, id, ends).await;
            is(&store, call, "cancelled").await;
            assert_eq!(bank.calls(), 0);
        });
    }
}

/// Once the worker of the parent has tried the message, the call begins: also if the message, or
/// another one, waits for another program.
#[test]
fn a_message_holds_a_call_until_it_is_tried() {
    let enter = || says(ENTER, "enter");
    let hide = || Message::from_json(HIDE, &Customer).unwrap();
    for (messages, ends) in
        [(vec![enter()], "paying"), (vec![hide()], "paused"), (vec![hide(), enter()], "paused")]
    {
        timed(async |store, hand| {
            let ((id, call), bank) = (order(&store).await, Service::default());
            for message in &messages {
                store.send(id, message).await.unwrap();
            }
            settle(bank_alone(&store, &bank)).await;
            assert_eq!(bank.calls(), 0);
            settle(both(&store, &bank)).await;
            hand.pass(LOOK_AGAIN);
            settle(bank_alone(&store, &bank)).await;
            is(&store, id, "paying").await;
            is(&store, call, "completed").await;
            settle(both(&store, &bank).sender::<Customer>()).await;
            is(&store, id, ends).await;
            assert_eq!(bank.calls(), 1);
        });
    }
}

/// It stays tried while the parent is busy with something else.
#[test]
fn a_message_that_was_refused_holds_no_call_while_the_parent_is_due() {
    timed(async |store, hand| {
        let ((id, call), bank) = (order(&store).await, Service::default());
        hand.pass(LOOK_AGAIN);
        store.send(id, &says(ENTER, "enter")).await.unwrap();
        settle(worker(&store).handler(rests::<AnyOrder>())).await;
        store.send(id, &tells(NOTE, "note")).await.unwrap();
        settle(bank_alone(&store, &bank)).await;
        is(&store, call, "completed").await;
        assert_eq!(bank.calls(), 1);
    });
}

/// It is tried again while it backs off.
#[test]
fn a_deadline_that_fails_holds_a_call_until_it_is_set_aside() {
    timed(async |store, hand| {
        let bank = Service::default();
        let run = async |wait| {
            hand.pass(wait);
            let patient = bank_alone(&store, &bank).attempts(2).backoff(HOUR, HOUR);
            settle(patient.handler(rests::<AnyRent>())).await;
        };
        run(Duration::ZERO).await;
        let (id, call) = with_call(&store, Rent::new()).await;
        for wait in [DUE, LOOK_AGAIN] {
            run(wait).await;
            is(&store, call, "pending").await;
        }
        for wait in [HOUR, LOOK_AGAIN] {
            run(wait).await;
        }
        is(&store, call, "completed").await;
        is(&store, id, "running").await;
        assert_eq!(bank.calls(), 1);
    });
}

/// A handler that fails after a child has ended in time holds the deadline, and the deadline holds
/// the call.
#[test]
fn a_deadline_that_comes_after_the_handler_holds_a_call() {
    timed(async |store, hand| {
        let ((id, call), bank) = (order(&store).await, Service::default());
        let mut lamp = Lamp::new();
        store.batch().create_child(id, &mut lamp).write().await.unwrap();
        store.commit(&mut lamp.cancel(graph_runner())).await.unwrap();
        let calls = Count::default();
        let run = async |wait| {
            hand.pass(wait);
            let patient = bank_alone(&store, &bank).attempts(2).backoff(HOUR, HOUR);
            settle(patient.handler(fails::<AnyOrder>(&calls))).await;
        };
        for wait in [DUE, LOOK_AGAIN] {
            run(wait).await;
            is(&store, id, "paying").await;
            is(&store, call, "pending").await;
        }
        run(HOUR).await;
        is(&store, id, "expired").await;
        is(&store, call, "cancelled").await;
        assert_eq!((calls.get(), bank.calls()), (2, 0));
    });
}

/// What the state does not take, or what is no person's, holds nothing up.
#[test]
fn other_messages_hold_no_call() {
    for message in [says(RESUME, "it"), tells(NOTE, "it")] {
        timed(async |store, _| {
            let ((id, call), bank) = (order(&store).await, Service::default());
            store.send(id, &message).await.unwrap();
            settle(bank_alone(&store, &bank)).await;
            is(&store, call, "completed").await;
            is(&store, id, "paying").await;
        });
    }
}

/// No worker will ever try what waits for an order that none drives.
#[test]
fn an_order_that_no_worker_drives_holds_no_call() {
    timed(async |store, hand| {
        let ((id, call), bank) = (undriven(&store).await, Service::default());
        store.send(id, &says(PAUSE, "pause")).await.unwrap();
        hand.pass(DUE);
        settle(bank_alone(&store, &bank)).await;
        is(&store, call, "completed").await;
        is(&store, id, "paying").await;
    });
}

/// A worker that cannot read its parent has not tried what is due.
#[tokio::test]
async fn a_call_waits_for_a_parent_that_cannot_be_read() {
    for pauses in [false, true] {
        let (folder, hand) = (tempfile::tempdir().unwrap(), Hand::default());
        let file = folder.path().join("agent.db");
        let store = OpenOptions::new().clock(hand.clone()).sqlite(&file).await.unwrap();
        let ((id, call), bank) = (order(&store).await, Service::default());
        let sql = "UPDATE instance SET seal = zeroblob(32) WHERE no = (SELECT parent FROM child)";
        assert_eq!(rusqlite::Connection::open(&file).unwrap().execute(sql, []).unwrap(), 1);
        if pauses {
            store.send(id, &says(PAUSE, "pause")).await.unwrap();
        } else {
            hand.pass(DUE);
        }
        settle(worker(&store).handler(rests::<AnyOrder>())).await;
        assert_eq!(store.set_aside().await.unwrap().machines.len(), 1);
        settle(bank_alone(&store, &bank)).await;
        is(&store, call, "pending").await;
        assert_eq!(bank.calls(), 0);
    }
}
