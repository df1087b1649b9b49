//! Keys of machines of the user's own.

use machine::{
    contract::Contract,
    effects::EffectError,
    journal::{Entry, Fact},
    machine,
    store::CommitError,
    stored::{Breach, Context, Hold, Index},
};
use machine_tests::{
    assert_err,
    samples::{mail, pending_mail},
};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, not_applied, on_file};

on_file! {
    a_taken_key_names_its_holder,
    a_machine_of_the_user_cannot_use_the_key_of_an_execution,
}

/// Whatever has this key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claim {
    key: String,
    /// In the end it says that the action of the key was applied.
    applies: bool,
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
            _ if self.applies => Hold::Applied,
            _ => Hold::Released,
        };
        index.exclusive = self.applies;
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
    Claim { key: "7a".to_owned(), applies: false }
}

pub(crate) fn claim_of(contract: &Contract) -> Claim {
    Claim { key: contract.idempotency_key().unwrap().to_string(), applies: false }
}

/// The second holder learns who the first one is, at creation and at a commit. Given back, the key
/// is free for machines of its kind, and for no others.
async fn a_taken_key_names_its_holder(place: Place) {
    let first = place.created(Booking::new(seat_7a()).book()).await;
    let mut second = Booking::new(seat_7a()).book();
    let taken = place.store.create(&mut second).await;
    assert_err!(taken, EffectError::Commit(CommitError::KeyHeld { id, by }) if *id == second.id() && *by == first.id());
    // It is not an execution: there is nothing to recover or to settle.
    let text = taken.unwrap_err().to_string();
    let wait = format!("wait until {} has ended or has released the key", first.id());
    assert!(text.contains(&wait), "{text}");
    let mut third = place.created(Booking::new(seat_7a())).await.book();
    let taken = place.store.commit(&mut third).await;
    assert_err!(taken, EffectError::Commit(CommitError::KeyHeld { id, by }) if *id == third.id() && *by == first.id());

    // The same machine twice is still that.
    let before = place.dump();
    let mut again = place.store.load::<AnyBooking>(first.id()).await.unwrap();
    let refused = place.store.create(&mut again).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyStored { .. }));
    assert_eq!(place.dump(), before);

    let mut other = Parking::new(seat_7a()).park();
    let refused = place.store.create(&mut other).await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyReused { by, .. }) if *by == first.id());
    let _ = place.committed(first.cancel()).await;
    place.store.create(&mut second).await.unwrap();
    let refused = place.store.create(&mut other).await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyReused { .. }));
}

/// A machine of the user that names the key of an execution is refused, whether the action runs,
/// was done or was given up, and nothing is wedged. One that was there first keeps no execution
/// from its key, not even if it says that the action was applied.
async fn a_machine_of_the_user_cannot_use_the_key_of_an_execution(place: Place) {
    let first = place.created(Booking::new(claim_of(&mail("bob"))).book()).await;
    let (running, permit) = place.begun(mail("bob")).await;
    let mut booked = place.created(Booking::new(claim_of(&mail("bob")))).await.book();
    for _ in 0..2 {
        let refused = place.store.commit(&mut booked).await;
        assert_err!(refused, EffectError::Commit(CommitError::KeyReused { id, by })
            if *id == booked.id() && *by == running.id());
        assert_eq!(booked.journal().uncommitted().len(), 1);
    }
    let refused = place.store.create(&mut Booking::new(claim_of(&mail("bob"))).book()).await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyReused { by, .. }) if *by == running.id());

    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.settled(running, outcome).await;
    let refused = place.store.commit(&mut booked).await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyReused { .. }));
    let done = place.done(mail("bob")).await.id();
    let refused = place.store.commit(&mut booked).await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyReused { .. }));
    let refused = place.store.create(&mut pending_mail("bob")).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == done);
    // The one that was there first may move on.
    let _ = place.committed(first.cancel()).await;
    let squatter = Claim { applies: true, ..claim_of(&mail("carl")) };
    let _ = place.created(Booking::new(squatter).book().cancel()).await;
    let done = place.done(mail("carl")).await.id();
    let squatter = Claim { applies: true, ..claim_of(&mail("carl")) };
    let refused = place.store.create(&mut Booking::new(squatter).book().cancel()).await;
    assert_err!(refused, EffectError::Commit(CommitError::KeyReused { by, .. }) if *by == done);
    place.assert_intact().await;
}
