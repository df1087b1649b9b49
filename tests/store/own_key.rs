//! Keys of machines of the user's own.

use machine::{
    contract::Contract,
    journal::{Entry, Fact},
    machine,
    store::CommitError,
    stored::{Breach, Context, Hold, Index},
};
use machine_tests::actors::tool_node;
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, not_applied, on_both};

on_both! {
    a_taken_key_names_its_holder,
    a_machine_of_the_user_cannot_use_the_key_of_an_execution,
    an_execution_is_not_refused_because_of_a_machine_of_the_user,
    two_kinds_of_machines_do_not_share_a_key,
    two_machines_of_a_batch_do_not_both_get_a_key,
    one_machine_of_a_batch_gives_the_key_that_a_later_one_takes,
}

/// Whatever has this key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claim {
    key: String,
}

impl Context for Claim {
    type Summary = u32;

    fn fold(&self, moves: &mut u32, entry: &Entry) -> Result<(), Breach> {
        *moves += u32::from(matches!(entry.fact, Fact::Moved { .. }));
        Ok(())
    }

    fn index(&self, moves: &u32) -> Index {
        let mut index = Index::default();
        index.key = Some(self.key.clone());
        index.hold = match moves {
            0 => Hold::Free,
            1 => Hold::Held,
            _ => Hold::Released,
        };
        index
    }
}

#[machine(durable, context = Claim)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Booking {
    #[initial]
    #[on(book => Booked)]
    Free,
    #[on(cancel => Cancelled)]
    Booked,
    #[terminal]
    Cancelled,
}

/// Another kind of machine with the same keys.
#[machine(durable, context = Claim)]
#[derive(Debug, Serialize, Deserialize)]
enum Parking {
    #[initial]
    #[on(park => Parked)]
    Driving,
    #[terminal]
    Parked,
}

fn seat_7a() -> Claim {
    Claim { key: "7a".to_owned() }
}

/// The second holder learns who the first one is, at creation and at a commit.
async fn a_taken_key_names_its_holder(place: Place) {
    let mut first = Booking::new(seat_7a()).book();
    place.store.create(&mut first).await.unwrap();

    let mut second = Booking::new(seat_7a()).book();
    let taken = place.store.create(&mut second).await;
    assert_err!(taken, CommitError::KeyHeld { id, by }
        if *id == second.id() && *by == first.id());

    // It is no execution: there is nothing to recover or to settle.
    let text = taken.unwrap_err().to_string();
    let wait = format!("wait until {} has ended or has released the key", first.id());
    assert!(text.contains(&wait), "{text}");

    let mut third = Booking::new(seat_7a());
    place.store.create(&mut third).await.unwrap();
    let mut third = third.book();
    let taken = place.store.commit(&mut third).await;
    assert_err!(taken, CommitError::KeyHeld { id, by }
        if *id == third.id() && *by == first.id());

    // The same machine twice is still that.
    let before = place.dump().await;
    let mut again = place.store.load::<AnyBooking>(first.id()).await.unwrap();
    assert_err!(place.store.create(&mut again).await, CommitError::AlreadyStored { .. });
    assert_eq!(place.dump().await, before);
}

pub(crate) fn claim_of(contract: &Contract) -> Claim {
    Claim { key: contract.idempotency_key().unwrap().to_string() }
}

/// A machine of the user that names the key of an execution is refused, whether the action runs, was
/// done or was given up, and nothing is wedged.
async fn a_machine_of_the_user_cannot_use_the_key_of_an_execution(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let mut booking = Booking::new(claim_of(&mail("bob")));
    place.store.create(&mut booking).await.unwrap();
    let mut booked = booking.book();
    for _ in 0..2 {
        let refused = place.store.commit(&mut booked).await;
        assert_err!(refused, CommitError::KeyReused { id, by }
            if *id == booked.id() && *by == running.id());
        assert_eq!(booked.journal().uncommitted().len(), 1);
    }
    let mut created = Booking::new(claim_of(&mail("bob"))).book();
    let refused = place.store.create(&mut created).await;
    assert_err!(refused, CommitError::KeyReused { by, .. } if *by == running.id());

    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    assert_err!(place.store.commit(&mut booked).await, CommitError::KeyReused { .. });
    let done = place.done(mail("bob")).await.id();
    assert_err!(place.store.commit(&mut booked).await, CommitError::KeyReused { .. });
    let mut again = pending_mail("bob");
    let refused = place.store.create(&mut again).await;
    assert_err!(refused, CommitError::AlreadyDone { by, .. } if *by == done);
}

/// The machine of the user was first: the execution has its own key all the same.
async fn an_execution_is_not_refused_because_of_a_machine_of_the_user(place: Place) {
    let mut booked = Booking::new(claim_of(&mail("bob"))).book();
    place.store.create(&mut booked).await.unwrap();
    let done = place.done(mail("bob")).await.id();
    let mut again = pending_mail("bob");
    let refused = place.store.create(&mut again).await;
    assert_err!(refused, CommitError::AlreadyDone { by, .. } if *by == done);
    // The user's machine, which was there first, may move on.
    let mut cancelled = booked.cancel();
    place.store.commit(&mut cancelled).await.unwrap();
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Machines of the same name share their keys; others do not.
async fn two_kinds_of_machines_do_not_share_a_key(place: Place) {
    let mut first = Booking::new(seat_7a()).book();
    place.store.create(&mut first).await.unwrap();
    let mut second = Booking::new(seat_7a()).book();
    let refused = place.store.create(&mut second).await;
    assert_err!(refused, CommitError::KeyHeld { by, .. } if *by == first.id());
    let mut other = Parking::new(seat_7a()).park();
    let refused = place.store.create(&mut other).await;
    assert_err!(refused, CommitError::KeyReused { by, .. } if *by == first.id());
    // Given back, it is free for machines of its kind.
    let mut first = first.cancel();
    place.store.commit(&mut first).await.unwrap();
    place.store.create(&mut second).await.unwrap();
    assert_err!(place.store.create(&mut other).await, CommitError::KeyReused { .. });
}

/// Neither or one, never both.
async fn two_machines_of_a_batch_do_not_both_get_a_key(place: Place) {
    let (mut one, mut other) = (Booking::new(seat_7a()).book(), Booking::new(seat_7a()).book());
    let before = place.dump().await;
    let refused = place.store.batch().create(&mut one).create(&mut other).write().await;
    assert_err!(refused, CommitError::KeyHeld { id, by } if *by == one.id() && *id == other.id());
    assert_eq!(place.dump().await, before);
    place.store.create(&mut one).await.unwrap();
}

/// In one batch a key may be given back and taken: the order of the batch decides.
async fn one_machine_of_a_batch_gives_the_key_that_a_later_one_takes(place: Place) {
    let mut first = Booking::new(seat_7a()).book();
    place.store.create(&mut first).await.unwrap();
    let (mut first, mut second) = (first.cancel(), Booking::new(seat_7a()).book());
    let batch = place.store.batch().commit(&mut first).create(&mut second);
    batch.write().await.unwrap();
    let mut third = Booking::new(seat_7a()).book();
    let refused = place.store.create(&mut third).await;
    assert_err!(refused, CommitError::KeyHeld { by, .. } if *by == second.id());
}
