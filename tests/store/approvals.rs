//! A confirmation cannot be bypassed (EX-9).

use machine::{
    actor::{ReasoningNode, ToolNode},
    contract::{defer, execution::Status},
    store::StoreError,
};
use machine_tests::{
    assert_err,
    samples::{ask, mail, read},
};

use crate::support::{Place, begin};

/// A gate whose row was edited to COMPLETED does not open: its journal differs.
#[tokio::test]
async fn a_gate_that_was_edited_by_hand_opens_nothing() {
    let place = Place::new();
    let (gate, mut mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.create_all(&mut [&mut gate, &mut mail]).await.unwrap();
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", gate.id());
    assert_err!(begin(&place.store, mail).await, StoreError::Unreadable(_));
}

/// `defer` guarantees that the action runs only after the gate is COMPLETED, also for an idempotent
/// action, which needs no permit to start.
#[tokio::test]
async fn a_deferred_action_does_not_start_without_its_gate() {
    let place = Place::new();
    let (gate, mut action) = defer(read("secret.txt"), "Read it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.create_all(&mut [&mut gate, &mut action]).await.unwrap();
    let id = action.id();
    let mut running = action.start(&ToolNode);
    assert_err!(place.store.commit(&mut running).await, StoreError::Deferred { .. });
    assert_eq!(place.status(id).await, Status::Pending);
}

/// It cannot be created as already started either.
#[tokio::test]
async fn a_deferred_action_is_not_created_past_its_gate() {
    let place = Place::new();
    let (gate, action) = defer(read("secret.txt"), "Read it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.create(&mut gate).await.unwrap();
    let mut done = action.start(&ToolNode).succeed("the secret".to_owned(), &ToolNode);
    assert_err!(place.store.create(&mut done).await, StoreError::Deferred { .. });
}
