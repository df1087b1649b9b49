//! An action behind a gate (EX-9): the two name each other, and the action is otherwise unchanged.

use std::time::Duration;

use machine::contract::execution;
use machine::contract::{Action, ActionType, InvalidContract, Planned, Tool};
use machine::stored::Durable;
use machine::typed::State;
use machine_tests::{
    actors::ecs_node,
    assert_err,
    samples::{mail, read},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The gate asks to approve this exact execution and action; the action waits for this gate.
#[test]
fn the_gate_and_the_action_name_each_other() {
    let contract = mail("bob").session("s1");
    let (gate, planned) = contract.clone().ask::<Action>(None, ecs_node()).unwrap();
    assert_eq!(planned.context().behind(), Some(gate.id()));
    let approval = gate.approval();
    assert_eq!(approval.execution(), planned.id());
    assert_eq!(approval.action(), contract.action().digest());
    assert_eq!(json!(approval).get("expires_after_ms"), None);
    assert_eq!(gate.context().behind(), None);
    assert_ne!(planned.id(), gate.id());
    // A limit is stored with the gate; when it is due is known once it is stored.
    let limit = Some(Duration::from_millis(1500));
    let (gate, _) = contract.ask::<Action>(limit, ecs_node()).unwrap();
    assert_eq!(json!(gate.approval())["expires_after_ms"], 1500);
    assert_eq!(gate.expires_at(), None);
}

/// The gate waits for a person, without a timeout of a call, in the same session, and is not
/// irreversible.
#[test]
fn the_gate_is_a_question_that_waits() {
    let (gate, _) = mail("bob").session("s1").ask::<Action>(None, ecs_node()).unwrap();
    assert_eq!(gate.state_index(), execution::Waiting::INDEX);
    assert_eq!(gate.state().prompt, gate.question());
    assert_eq!(gate.expires_at(), None);
    let contract = gate.context();
    assert_eq!(contract.action().action_type(), &ActionType::EcsRequest);
    assert_eq!(contract.action().detail()["message"], gate.question());
    assert_eq!((contract.timeout(), contract.is_irreversible()), (None, false));
    assert_eq!(contract.idempotency_key(), None);
    assert_eq!(contract.session_id(), Some("s1"));
    assert_eq!(contract.summary(), "approval of email.send → bob");
}

/// The action is otherwise unchanged.
#[test]
fn the_action_is_as_it_was() {
    let contract = mail("bob").session("s1").note("n", 1).timeout_after(Duration::from_secs(3));
    let (_gate, planned) = contract.clone().ask::<Action>(None, ecs_node()).unwrap();
    let deferred = planned.context();
    assert_eq!(deferred.action(), contract.action());
    assert_eq!(deferred.idempotency_key(), contract.idempotency_key());
    assert_eq!(deferred.is_irreversible(), contract.is_irreversible());
    assert_eq!(deferred.timeout(), contract.timeout());
    assert_eq!(deferred.settling_time(), contract.settling_time());
    assert_eq!(deferred.metadata(), contract.metadata());
    assert_eq!(deferred.summary(), contract.summary());
}

/// Each question has its own gate.
#[test]
fn each_question_has_its_own_gate() {
    let (one, first) = mail("bob").ask::<Action>(None, ecs_node()).unwrap();
    let (two, second) = mail("bob").ask::<Action>(None, ecs_node()).unwrap();
    assert_ne!(one.id(), two.id());
    assert_ne!(one.approval().execution(), two.approval().execution());
    assert_eq!(one.approval().action(), two.approval().action());
    assert_ne!(first.context().behind(), second.context().behind());
    // A contract that was asked for is asked for again: the newest gate counts.
    let behind = first.into_execution().context().clone();
    let (third, planned) = behind.ask::<Action>(None, ecs_node()).unwrap();
    assert_eq!(planned.context().behind(), Some(third.id()));
}

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible)]
struct Pay {
    cents: u64,
}

/// An action that its tool cannot run is never asked about.
#[test]
fn a_gate_is_for_an_action_that_fits() {
    let refused = mail("bob").ask::<Pay>(None, ecs_node());
    assert_err!(refused, InvalidContract::OtherTool { .. });
    // An idempotent action may have a gate, too.
    let (gate, planned): (_, Planned<Action>) = read("a.txt").ask(None, ecs_node()).unwrap();
    assert!(gate.question().starts_with("Allow files.read?\n"), "{}", gate.question());
    assert!(!planned.context().is_irreversible());
}
