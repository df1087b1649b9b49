//! Malformed rows must not affect other machines.

use machine::{contract::AnyExecution, erased::VerifyError, store::StoreError};
use machine_tests::{
    assert_err,
    samples::{mail, read},
};

use crate::support::Place;

/// An execution that fails verification does not keep the others from being recovered.
#[tokio::test]
async fn recover_skips_a_row_that_fails_verification() {
    let place = Place::new();
    let (broken, permit) = place.begun(mail("ann")).await;
    drop(permit);
    let (sound, permit) = place.begun(mail("bob")).await;
    drop(permit);
    assert_eq!(place.edit("UPDATE instance SET context = '{}' WHERE id = ?1", broken.id()), 1);

    let recovered = place.store.recover().await;
    let parked = place.store.in_doubt(sound.id()).await;
    assert!(
        parked.is_ok(),
        "the intact one was not parked: {parked:?}, recover returned: {recovered:?}"
    );
}

/// A list is for diagnosis, so a malformed row is shown or skipped, but not fatal.
#[tokio::test]
async fn one_broken_id_does_not_hide_the_rest() {
    let place = Place::new();
    let sound = place.stored(read("a.txt")).await;
    let broken = place.stored(read("b.txt").session("broken")).await;
    place.edit("UPDATE instance SET behind = 'nobody' WHERE id = ?1", broken.id());
    let listed = place.store.list(None).await;
    let listed = listed.expect("the list still has the intact machine");
    assert!(listed.iter().any(|line| line.id == sound.id()));
}

/// The other machines still load.
#[tokio::test]
async fn the_other_rows_still_load() {
    let place = Place::new();
    let sound = place.stored(read("a.txt")).await;
    let broken = place.stored(read("b.txt")).await;
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", broken.id());
    let refused = place.store.load::<AnyExecution>(broken.id()).await;
    assert_err!(refused, StoreError::Unreadable(VerifyError::History { .. }));
    place.store.load::<AnyExecution>(sound.id()).await.unwrap();
}
