//! The checks of EX-7 that depend on time.

use std::time::Duration;

use machine::{
    clock,
    contract::execution::Waiting,
    store::{Resume, StoreError},
};
use machine_tests::{assert_err, forge, samples::asked};

use crate::support::Place;

const HOUR_MS: i64 = 3_600_000;

/// Stores a machine that entered WAITING at now plus `shift_ms`.
async fn waiting_since(place: &Place, shift_ms: i64) -> machine::Id {
    let mut claim = forge::claim(&asked("Deploy?"));
    for entry in &mut claim.journal {
        entry.at = clock::now() + shift_ms;
    }
    let mut waiting = forge::cross_execution(claim).unwrap();
    place.store.create(&mut waiting).await.unwrap();
    waiting.id()
}

/// A checkpoint that is too old is refused, but stays stored.
#[tokio::test]
async fn what_waited_too_long_is_refused() {
    let place = Place::new();
    let id = waiting_since(&place, -HOUR_MS).await;
    let before = place.dump();
    let minute = Resume::default().max_age(Duration::from_mins(1));
    let refused = place.store.resume_with::<Waiting>(id, minute).await;
    assert_err!(refused, StoreError::Expired { id: of, age_ms, limit_ms: 60_000 }
        if *of == id && *age_ms >= HOUR_MS.unsigned_abs());
    assert_eq!(place.dump(), before);

    let day = Resume::default().max_age(Duration::from_hours(24));
    let _ = place.store.resume_with::<Waiting>(id, day).await.unwrap();
    let _ = place.store.resume::<Waiting>(id).await.unwrap();
}

/// A clock that went back does not make a recent question old.
#[tokio::test]
async fn what_was_asked_in_the_future_is_not_old() {
    let place = Place::new();
    let id = waiting_since(&place, HOUR_MS).await;
    let minute = Resume::default().max_age(Duration::from_mins(1));
    let resumed = place.store.resume_with::<Waiting>(id, minute).await;
    assert!(resumed.is_ok(), "{resumed:?}");
}
