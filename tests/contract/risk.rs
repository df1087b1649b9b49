//! Who says that an action is irreversible, and how long it may take (EX-15).

use machine::{
    actor::ReasoningNode,
    contract::{Contract, Tool},
};
use machine_tests::samples::{mail, read};

/// The registration decides.
#[test]
fn the_registration_decides() {
    assert!(mail("bob").is_irreversible());
    assert!(!read("a.txt").is_irreversible());
    assert!(!Contract::ecs_request("Sure?", &ReasoningNode).unwrap().is_irreversible());
}

/// What a model writes into the arguments changes nothing.
#[test]
fn arguments_decide_nothing() {
    let tool = Tool::irreversible("email", "send").unwrap();
    let hint = r#"{"irreversible":false,"timeout_seconds":1,"idempotency_key":"mine"}"#;
    let contract = Contract::tool_call(&tool, hint, &ReasoningNode).unwrap();
    assert!(contract.is_irreversible());
    assert_eq!(contract.timeout(), Some(30));
    assert_ne!(contract.idempotency_key().unwrap().as_str(), "mine");
}

/// A contract may raise the risk; the other setters leave it raised. There is none that lowers it.
#[test]
fn the_risk_can_be_raised() {
    let raised = read("a.txt").irreversible();
    assert!(raised.is_irreversible());
    assert_eq!(raised.idempotency_key(), read("a.txt").idempotency_key());
    let later = raised.session("s").about("x").timeout_seconds(1).note("irreversible", false);
    assert!(later.is_irreversible());
    assert!(mail("bob").irreversible().is_irreversible());
}

/// What is raised has a key, whatever sort of action it is.
#[test]
fn what_is_raised_has_a_key() {
    let question = |text| Contract::ecs_request(text, &ReasoningNode).unwrap();
    assert_eq!(question("Sure?").idempotency_key(), None);
    let key = |text| question(text).irreversible().idempotency_key().unwrap().clone();
    assert_eq!(key("Sure?"), key("Sure?"));
    assert_ne!(key("Sure?"), key("Really?"));
}

/// Tool calls have 30 seconds, questions have no limit, and each may say otherwise.
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
