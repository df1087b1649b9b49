//! Data that cannot be written, or could not be read back, are refused before they reach the disk.

use std::collections::HashMap;

use machine::{
    machine,
    store::{CommitError, Query},
};
use machine_tests::{
    assert_err,
    samples::{AnyTicket, Ticket},
};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, on_both};

on_both! {
    a_state_that_is_not_json_is_refused,
    a_state_that_could_not_be_read_again_is_refused,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Vote {
    #[initial]
    #[on(count(tally) => Counted)]
    Open,
    #[terminal]
    Counted { tally: HashMap<(u8, u8), u8> },
}

/// JSON keys must be strings. The transition is pure and cannot fail, so the commit reports it.
async fn a_state_that_is_not_json_is_refused(place: Place) {
    let open = place.created(Vote::new()).await;
    let before = place.dump().await;
    let mut counted = open.count(HashMap::from([((1, 2), 3)]));
    assert_err!(place.store.commit(&mut counted).await, CommitError::Unwritable { .. });
    assert_eq!(place.dump().await, before);
}

/// NaN becomes `null` in JSON, which is not a number, so it could never be loaded.
async fn a_state_that_could_not_be_read_again_is_refused(place: Place) {
    let mut closed = Ticket::new().close("unclear".to_owned(), f64::NAN);
    match place.store.create(&mut closed).await {
        Err(CommitError::Unwritable { .. }) => {
            assert_eq!(place.lines(&Query::new()).await, []);
        }
        Err(other) => panic!("expected Unwritable, found {other:?}"),
        Ok(()) => {
            let loaded = place.store.load::<AnyTicket>(closed.id()).await;
            assert!(loaded.is_ok(), "it was stored, and cannot be loaded: {loaded:?}");
        }
    }
}
