//! The rules for whether an action is irreversible, and for its timeout (EX-15).

use std::time::Duration;

use machine::contract::{Contract, Effect, ToolSpec};
use machine_tests::actors::reasoning_node;
use machine_tests::samples::{mail, read};

/// The registration is authoritative.
#[test]
fn the_registration_decides() {
    assert!(mail("bob").is_irreversible());
    assert!(!read("a.txt").is_irreversible());
    assert!(!Contract::ecs_request("Sure?", reasoning_node()).unwrap().is_irreversible());
}

/// Arguments that a model writes have no influence.
#[test]
fn arguments_decide_nothing() {
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let hint = r#"{"irreversible":false,"timeout_seconds":1,"idempotency_key":"mine"}"#;
    let contract = Contract::tool_call(&tool, hint, reasoning_node()).unwrap();
    assert!(contract.is_irreversible());
    assert_eq!(contract.timeout(), Some(Duration::from_secs(30)));
    assert_ne!(contract.idempotency_key().unwrap().as_str(), "mine");
}

/// A contract can raise the risk, and the other setters keep it. No setter lowers it.
#[test]
fn the_risk_can_be_raised() {
    let raised = read("a.txt").irreversible();
    // It still names the effect of its tool.
    assert_eq!((raised.effect(), raised.is_irreversible()), (Effect::Idempotent, true));
    assert_eq!(raised.idempotency_key(), read("a.txt").idempotency_key());
    let later = raised
        .session("s")
        .about("x")
        .timeout_after(Duration::from_secs(1))
        .note("irreversible", false);
    assert!(later.is_irreversible());
    assert!(mail("bob").irreversible().is_irreversible());
}

/// Every action that was marked irreversible has a key, whatever its type.
#[test]
fn an_action_made_irreversible_has_a_key() {
    let question = |text| Contract::ecs_request(text, reasoning_node()).unwrap();
    assert_eq!(question("Sure?").idempotency_key(), None);
    let key = |text| question(text).irreversible().idempotency_key().unwrap().clone();
    assert_eq!(key("Sure?"), key("Sure?"));
    assert_ne!(key("Sure?"), key("Really?"));
}

/// Tool calls default to 30 seconds, questions to no limit; both can be set.
#[test]
fn timeouts_have_defaults_and_can_be_set() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(mail("bob").timeout(), seconds(30));
    assert_eq!(Contract::ecs_request("Sure?", reasoning_node()).unwrap().timeout(), None);
    let slow = ToolSpec::idempotent("a", "b").unwrap().timeout(seconds(600));
    let contract = Contract::tool_call(&slow, "{}", reasoning_node()).unwrap();
    assert_eq!(contract.timeout(), seconds(600));
    assert_eq!(contract.timeout_after(Duration::from_secs(5)).timeout(), seconds(5));
    let patient = ToolSpec::idempotent("a", "b").unwrap().timeout(None);
    let contract = Contract::tool_call(&patient, "{}", reasoning_node()).unwrap();
    assert_eq!(contract.timeout(), None);
    let question = Contract::ecs_request("Sure?", reasoning_node())
        .unwrap()
        .timeout_after(Duration::from_secs(7));
    assert_eq!(question.timeout(), seconds(7));
}

/// A hint of a tool's server raises its effect, in any order, and never lowers it.
#[test]
fn hints_only_raise() {
    let (low, high) = (Effect::Idempotent, Effect::Irreversible);
    assert!(low < high);
    for (registered, hints, expected) in [
        (low, vec![], low),
        (low, vec![low], low),
        (low, vec![high, low], high),
        (low, vec![low, high], high),
        (high, vec![low, low], high),
    ] {
        let tool = match registered {
            Effect::Idempotent => ToolSpec::idempotent("files", "delete").unwrap(),
            Effect::Irreversible => ToolSpec::irreversible("files", "delete").unwrap(),
        };
        let tool = hints.into_iter().fold(tool, ToolSpec::raise);
        assert_eq!(tool.effect(), expected);
        let contract = Contract::tool_call(&tool, "{}", reasoning_node()).unwrap();
        assert_eq!((contract.effect(), contract.is_irreversible()), (expected, expected == high));
    }
}

/// The settling time: a call can take effect for that long after its worker ended.
#[test]
fn settling_times_have_a_default_and_can_be_set() {
    assert_eq!(read("a.txt").settling_time(), Duration::from_mins(1));
    assert_eq!(mail("bob").settling_time(), Duration::ZERO);
    let slow = ToolSpec::irreversible("bank", "pay").unwrap();
    let slow = slow.settling_time(Duration::from_hours(24));
    let contract = Contract::tool_call(&slow, "{}", reasoning_node()).unwrap();
    assert_eq!(contract.settling_time(), Duration::from_hours(24));
    let question = Contract::ecs_request("Sure?", reasoning_node()).unwrap();
    assert_eq!(question.settling_time(), Duration::ZERO);
}
