//! Malformed rows must not affect other machines.

use machine::{
    contract::AnyExecution,
    store::{LoadError, Query},
    stored::VerifyError,
};
use machine_tests::{
    assert_err,
    samples::{mail, read},
};

use crate::store::support::Place;

/// An execution that fails verification does not keep the others from being recovered, and is named.
#[tokio::test]
async fn recover_skips_a_row_that_fails_verification() {
    let place = Place::new().await;
    let (broken, permit) = place.begun(mail("ann")).await;
    drop(permit);
    let (sound, permit) = place.begun(mail("bob")).await;
    drop(permit);
    assert_eq!(place.edit("UPDATE context SET body = '{}' WHERE instance = ?2", broken.id()), 1);

    let recovered = place.store.recover().await.unwrap();
    let ids: Vec<_> = recovered.in_doubt.iter().map(|doubt| doubt.execution().id()).collect();
    assert_eq!(ids, [sound.id()]);
    let [(Some(id), error)] = &recovered.failed[..] else { panic!("{recovered:?}") };
    assert_eq!(*id, broken.id());
    assert_err!(Err::<(), _>(error), LoadError::Unreadable(VerifyError::History { .. }));
    let _ = place.store.in_doubt(sound.id()).await.unwrap();
}

/// A list is for diagnosis: for a malformed row it has an error at that position, which names the machine.
#[tokio::test]
async fn one_broken_row_does_not_hide_the_rest() {
    let place = Place::new().await;
    let first = place.stored(read("a.txt")).await.id();
    let broken = place.stored(read("b.txt").session("broken")).await.id();
    let last = place.stored(read("c.txt")).await.id();
    assert_eq!(place.edit("UPDATE instance SET behind = x'00' WHERE id = ?1", broken), 1);
    let page = place.store.list(&Query::new()).await.unwrap();
    let [Ok(before), Err(error), Ok(after)] = &page.items[..] else { panic!("{page:?}") };
    assert_eq!([before.id, after.id], [first, last]);
    assert_err!(Err::<(), _>(error), LoadError::Unreadable(VerifyError::History { id, reason })
        if *id == broken && reason.contains("`behind`"));
}

/// The other machines still load.
#[tokio::test]
async fn the_other_rows_still_load() {
    let place = Place::new().await;
    let sound = place.stored(read("a.txt")).await;
    let broken = place.stored(read("b.txt")).await;
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", broken.id());
    let refused = place.store.load::<AnyExecution>(broken.id()).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::History { .. }));
    place.store.load::<AnyExecution>(sound.id()).await.unwrap();
}
