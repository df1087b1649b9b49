//! Actions deferred behind a confirmation (EX-9).

use machine::{
    actor::ReasoningNode,
    contract::{ActionType, defer},
};
use machine_tests::samples::mail;

/// The gate confirms this exact action; the action waits for this gate.
#[test]
fn the_gate_and_the_action_name_each_other() {
    let contract = mail("bob").session("s1");
    let (gate, action) = defer(contract.clone(), "Send it?", &ReasoningNode).unwrap();
    assert_eq!(action.context().behind(), Some(gate.id()));
    assert_eq!(gate.context().confirms(), Some(contract.action().digest()));
    assert_eq!(gate.context().behind(), None);
    assert_eq!(action.context().confirms(), None);
    assert_ne!(gate.id(), action.id());
}

/// The gate is a question without a timeout, in the same session, and not irreversible.
#[test]
fn the_gate_is_a_question() {
    let (gate, _) = defer(mail("bob").session("s1"), "Send it?", &ReasoningNode).unwrap();
    let gate = gate.context();
    assert_eq!(gate.action().action_type(), &ActionType::EcsRequest);
    assert_eq!(gate.action().detail()["message"], "Send it?");
    assert_eq!((gate.timeout(), gate.is_irreversible()), (None, false));
    assert_eq!(gate.session_id(), Some("s1"));
    assert_eq!(gate.summary(), "confirm email.send → bob");
}

/// The action is otherwise unchanged.
#[test]
fn the_action_is_as_it_was() {
    let contract = mail("bob").session("s1").note("n", 1).timeout_seconds(3);
    let (_, action) = defer(contract.clone(), "Send it?", &ReasoningNode).unwrap();
    let deferred = action.context();
    assert_eq!(deferred.action(), contract.action());
    assert_eq!(deferred.idempotency_key(), contract.idempotency_key());
    assert_eq!(deferred.is_irreversible(), contract.is_irreversible());
    assert_eq!(deferred.timeout(), contract.timeout());
    assert_eq!(deferred.metadata(), contract.metadata());
}
