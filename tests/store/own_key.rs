//! A machine of the user's own that holds a key of its own.

use machine::{
    erased::{Context, Projection},
    journal::Entry,
    machine,
    store::StoreError,
};
use machine_tests::assert_err;
use serde::{Deserialize, Serialize};

use crate::support::Place;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Seat {
    number: String,
}

impl Context for Seat {
    fn projection(&self, journal: &[Entry]) -> Projection {
        let mut projection = Projection::default();
        projection.key = Some(self.number.clone());
        projection.holds_key = journal.len() > 1;
        projection
    }
}

#[machine(durable, context = Seat)]
#[derive(Debug, Serialize, Deserialize)]
enum Booking {
    #[initial]
    #[on(book => Booked)]
    Free,
    #[terminal]
    Booked,
}

fn seat() -> Seat {
    Seat { number: "7a".to_owned() }
}

/// The second holder learns who the first one is, at creation and at a commit.
#[tokio::test]
async fn a_taken_key_names_its_holder() {
    let place = Place::new();
    let mut first = Booking::new(seat()).book();
    place.store.create(&mut first).await.unwrap();

    let mut second = Booking::new(seat()).book();
    let taken = place.store.create(&mut second).await;
    assert_err!(taken, StoreError::KeyHeld { by } if *by == first.id());

    let mut third = Booking::new(seat());
    place.store.create(&mut third).await.unwrap();
    let mut third = third.book();
    let taken = place.store.commit(&mut third).await;
    assert_err!(taken, StoreError::KeyHeld { by } if *by == first.id());

    // The same machine twice is still that.
    let before = place.dump();
    let mut again = place.store.load::<AnyBooking>(first.id()).await.unwrap();
    assert_err!(place.store.create(&mut again).await, StoreError::AlreadyStored { .. });
    assert_eq!(place.dump(), before);
}
