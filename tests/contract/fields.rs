//! The fields of a contract, in memory and in stored data (EX-3).

use std::time::Duration;

use machine::contract::{Action, ActionType, AnyExecution, Contract, Execution, ToolSpec};
use machine_tests::actors::{reasoning_node, tool_node};
use machine_tests::{forge, samples::mail};
use serde_json::{Value, json};

/// The serialized execution has every field of EX-3 under its name.
#[test]
fn every_field_is_stored() {
    let contract =
        mail("bob").session("s1").note("ticket", 17).timeout_after(Duration::from_secs(9));
    let key = contract.idempotency_key().unwrap().to_string();
    let running = Execution::new(contract).start(tool_node());
    let claim = forge::claim(&running);
    let context: Value = serde_json::from_str(&claim.record.context).unwrap();
    assert_eq!(
        context,
        json!({
            "action": {
                "action_type": "tool_call",
                "action_detail": { "service": "email", "method": "send", "args": { "to": "bob" } },
            },
            "summary": "email.send → bob",
            "effect": "irreversible",
            "irreversible": true,
            "idempotency_key": key,
            "timeout_ms": 9000,
            "session": "s1",
            "metadata": { "ticket": 17 },
        })
    );
    let whole = serde_json::to_value(&claim).unwrap();
    assert_eq!(whole["record"]["id"], running.id().to_string());
    assert_eq!(whole["record"]["status"], "running");
    let entry = &whole["journal"][1];
    let fact = json!({ "moved": { "from": "pending", "to": "running", "trigger": "start" } });
    assert_eq!(entry["fact"], fact);
    assert_eq!(entry["actor"], "tool_node");
    assert_eq!(entry["by"], "test");
    assert!(entry["at"].as_i64() >= whole["journal"][0]["at"].as_i64());
}

/// A contract is read from a stored execution only. It survives that, and absent fields stay
/// absent.
#[test]
fn a_contract_goes_there_and_back() {
    let tool = ToolSpec::idempotent("a", "b").unwrap();
    let call = Contract::tool_call(&tool, "{}", reasoning_node()).unwrap();
    let question = Contract::ecs_request("Sure?", reasoning_node()).unwrap();
    for contract in [mail("bob").session("s1").note("n", 1.5), call, question] {
        let json = serde_json::to_string(&contract).unwrap();
        let claim = forge::claim(&Execution::new(contract.clone()));
        assert_eq!(claim.record.context, json);
        let read: AnyExecution = claim.verify().unwrap();
        assert_eq!(serde_json::to_string(read.context()).unwrap(), json);
        assert_eq!(read.context(), &contract);
        assert!(!json.contains("null"), "{json}");
    }
}

/// Action types are open-ended.
#[test]
fn action_types_are_open() {
    for (text, action_type) in [
        ("tool_call", ActionType::ToolCall),
        ("ecs_request", ActionType::EcsRequest),
        ("webhook", ActionType::Other("webhook".to_owned())),
    ] {
        assert_eq!(ActionType::from(text.to_owned()), action_type);
        assert_eq!(action_type.to_string(), text);
        assert_eq!(serde_json::to_value(&action_type).unwrap(), text);
        assert_eq!(serde_json::from_value::<ActionType>(json!(text)).unwrap(), action_type);
    }
}

/// An action carries no execution state, and its digest identifies it.
#[test]
fn an_action_is_its_type_and_its_detail() {
    let detail = |json: Value| json.as_object().unwrap().clone();
    let action = |action_type, json| Action::new(action_type, detail(json)).unwrap();
    let webhook = || ActionType::Other("webhook".to_owned());
    let one = action(webhook(), json!({ "a": 1, "b": 2 }));
    assert_eq!(one.digest(), action(webhook(), json!({ "b": 2, "a": 1 })).digest());
    assert_ne!(one.digest(), action(ActionType::EcsRequest, json!({ "a": 1, "b": 2 })).digest());
    assert_ne!(one.digest(), action(webhook(), json!({ "a": 1, "b": 3 })).digest());
}
