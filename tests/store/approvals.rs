//! A confirmation cannot be bypassed (EX-9).

use machine::{
    actor::{ReasoningNode, ToolNode},
    contract::{defer, execution::Status},
    store::{CommitError, LoadError},
    stored::VerifyError,
};
use machine_tests::{
    assert_err,
    samples::{ask, mail, read},
};

use crate::support::{Place, begin, on_both};

on_both! {
    a_deferred_action_does_not_start_without_its_gate,
    a_deferred_action_is_not_created_past_its_gate,
}

/// A gate whose row was edited to COMPLETED does not open: its seal differs.
#[tokio::test]
async fn a_gate_that_was_edited_by_hand_opens_nothing() {
    let place = Place::new().await;
    let (gate, mut mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.batch().create(&mut gate).create(&mut mail).write().await.unwrap();
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", gate.id());
    let id = mail.id();
    let refused = begin(&place.store, mail).await;
    assert_err!(refused, CommitError::Gate { id: of, source }
        if *of == id && matches!(**source, LoadError::Unreadable(VerifyError::History { .. })));
    assert_eq!(place.status(id).await, Status::Pending);
}

/// `defer` guarantees that the action runs only after the gate is COMPLETED, also for an idempotent
/// action, which needs no permit to start.
async fn a_deferred_action_does_not_start_without_its_gate(place: Place) {
    let (gate, mut action) = defer(read("secret.txt"), "Read it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.batch().create(&mut gate).create(&mut action).write().await.unwrap();
    let id = action.id();
    let mut running = action.start(&ToolNode);
    assert_err!(place.store.commit(&mut running).await, CommitError::Deferred { .. });
    assert_eq!(place.status(id).await, Status::Pending);
}

/// It cannot be created as already started either.
async fn a_deferred_action_is_not_created_past_its_gate(place: Place) {
    let (gate, action) = defer(read("secret.txt"), "Read it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.create(&mut gate).await.unwrap();
    let mut done = action.start(&ToolNode).succeed("the secret".to_owned(), &ToolNode);
    assert_err!(place.store.create(&mut done).await, CommitError::Deferred { .. });
}
