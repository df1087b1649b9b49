//! What decides whether an action is irreversible, and its timeout (EX-15).

use machine::{
    actor::ReasoningNode,
    contract::{Contract, Tool},
};
use machine_tests::samples::{mail, read};

/// The registration is authoritative.
#[test]
fn the_registration_decides() {
    assert!(mail("bob").is_irreversible());
    assert!(!read("a.txt").is_irreversible());
    assert!(!Contract::ecs_request("Sure?", &ReasoningNode).unwrap().is_irreversible());
}

/// Arguments that a model writes have no influence.
#[test]
fn arguments_decide_nothing() {
    let tool = Tool::irreversible("email", "send").unwrap();
    let hint = r#"{"irreversible":false,"timeout_seconds":1,"idempotency_key":"mine"}"#;
    let contract = Contract::tool_call(&tool, hint, &ReasoningNode).unwrap();
    assert!(contract.is_irreversible());
    assert_eq!(contract.timeout(), Some(30));
    assert_ne!(contract.idempotency_key().unwrap().as_str(), "mine");
}

/// A contract can raise the risk, and the other setters keep it. No setter lowers it.
#[test]
fn the_risk_can_be_raised() {
    let raised = read("a.txt").irreversible();
    assert!(raised.is_irreversible());
    assert_eq!(raised.idempotency_key(), read("a.txt").idempotency_key());
    let later = raised.session("s").about("x").timeout_seconds(1).note("irreversible", false);
    assert!(later.is_irreversible());
    assert!(mail("bob").irreversible().is_irreversible());
}

/// Every action that was marked irreversible has a key, whatever its type.
#[test]
fn what_is_raised_has_a_key() {
    let question = |text| Contract::ecs_request(text, &ReasoningNode).unwrap();
    assert_eq!(question("Sure?").idempotency_key(), None);
    let key = |text| question(text).irreversible().idempotency_key().unwrap().clone();
    assert_eq!(key("Sure?"), key("Sure?"));
    assert_ne!(key("Sure?"), key("Really?"));
}

/// Tool calls default to 30 seconds, questions to no limit; both can be set.
#[test]
fn timeouts_have_defaults_and_can_be_set() {
    assert_eq!(Tool::DEFAULT_TIMEOUT_SECONDS, 30);
    assert_eq!(mail("bob").timeout(), Some(30));
    assert_eq!(Contract::ecs_request("Sure?", &ReasoningNode).unwrap().timeout(), None);
    let slow = Tool::idempotent("a", "b").unwrap().timeout_seconds(600);
    let contract = Contract::tool_call(&slow, "{}", &ReasoningNode).unwrap();
    assert_eq!(contract.timeout(), Some(600));
    assert_eq!(contract.timeout_seconds(5).timeout(), Some(5));
    let question = Contract::ecs_request("Sure?", &ReasoningNode).unwrap().timeout_seconds(7);
    assert_eq!(question.timeout(), Some(7));
}
