//! Tools that are known at run time: names, arguments by JSON Schema, effects (feature `registry`).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use machine::{
    contract::{
        Action, AnyExecution, Applied, BoxFuture, Call, Contract, Effect, InvalidContract, Perform,
        Registry, Settled, ToolAnswer, ToolSpec,
    },
    effects::{EffectError, PerformError},
    store::Store,
};
use machine_tests::{
    actors::{reasoning_node, tool_node},
    assert_err,
    stores::planned,
};
use serde_json::{Value, json};

fn done(_call: &Call<Action>) -> BoxFuture<'_, ToolAnswer<Action>> {
    Box::pin(async { Ok(Applied::new("250 queued")) })
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "to": { "type": "string", "format": "email" },
            "copies": { "type": "integer", "minimum": 1 },
        },
        "required": ["to"],
        "additionalProperties": false,
    })
}

fn send() -> ToolSpec {
    ToolSpec::irreversible("email", "send").unwrap().schema(schema())
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.add(send(), done).unwrap();
    registry.add(ToolSpec::idempotent("files", "read").unwrap(), done).unwrap();
    registry
}

fn plan(registry: &Registry, tool: &str, arguments: &str) -> Result<Contract, InvalidContract> {
    registry.call(tool, arguments)?.contract(reasoning_node())
}

/// The contract is that of the tool's spec.
#[test]
fn a_contract_is_made_by_name() {
    let registry = registry();
    let contract = plan(&registry, "email.send", r#"{"to":"bob@example.com"}"#).unwrap();
    let same = Contract::tool_call(&send(), r#"{"to":"bob@example.com"}"#, reasoning_node());
    assert_eq!(contract, same.unwrap());
    assert!(contract.is_irreversible());
    registry.check_call(&contract).unwrap();
    let names: Vec<_> = registry.tools().map(ToolSpec::name).collect();
    assert_eq!(names, ["email.send", "files.read"]);
    // A tool without a schema takes any object.
    plan(&registry, "files.read", r#"{"anything":[1]}"#).unwrap();
    assert_err!(plan(&registry, "files.read", "[]"), InvalidContract::NotAnObject(_));
}

/// A tool that is not registered is not planned, however similar its name is.
#[test]
fn an_unknown_tool_is_refused() {
    let registry = registry();
    for name in [
        "",
        "email",
        "email.",
        ".send",
        "email.send ",
        "Email.send",
        "email:send",
        "email.s\u{435}nd",
    ] {
        let refused = plan(&registry, name, r#"{"to":"bob@example.com"}"#);
        assert_err!(refused, InvalidContract::UnknownTool(found) if found == name);
    }
    assert_err!(plan(&Registry::default(), "email.send", "{}"), InvalidContract::UnknownTool(_));
}

/// Arguments that do not fit are refused, with the place and the reason.
#[test]
fn arguments_are_checked_by_the_schema() {
    let registry = registry();
    for (arguments, reason) in [
        ("{}", "\"to\" is a required property"),
        (r#"{"to":1}"#, "at /to"),
        (r#"{"to":"bob"}"#, "\"email\""),
        (r#"{"to":"bob@example.com","cc":"eve"}"#, "cc"),
        (r#"{"to":"bob@example.com","copies":0}"#, "at /copies"),
        (r#"{"to":"bob@example.com","copies":"2"}"#, "at /copies"),
        (r#"{"to":["bob@example.com"]}"#, "at /to"),
    ] {
        let refused = plan(&registry, "email.send", arguments);
        assert_err!(refused, InvalidContract::Arguments { tool, reason: found }
            if tool == "email.send" && found.contains(reason));
        // The same for a contract that was made without the registry.
        let made = Contract::tool_call(&send(), arguments, reasoning_node()).unwrap();
        assert_err!(registry.check_call(&made), InvalidContract::Arguments { .. });
    }
    for arguments in ["", "{", r#"{"to":"bob@example.com"}x"#] {
        assert_err!(plan(&registry, "email.send", arguments), InvalidContract::NotJson(_));
    }
    // The parsed value counts: of two members of one name, the last.
    let twice = r#"{"to":"bob@example.com","to":"eve"}"#;
    assert_err!(plan(&registry, "email.send", twice), InvalidContract::Arguments { .. });
}

/// A refusal stays short, whatever the arguments are, and shows no control characters.
#[test]
fn a_refusal_is_short_and_visible() {
    let registry = registry();
    let long = json!({ "to": "\u{1b}[2J\u{202e}x".repeat(20_000) }).to_string();
    let refused = plan(&registry, "email.send", &long).unwrap_err().to_string();
    assert!(refused.len() < 4000, "the error has {} bytes", refused.len());
    let hidden = |character: char| character.is_control() || character == '\u{202e}';
    assert!(!refused.contains(hidden), "{refused:?}");
}

/// An invalid schema is refused, and the tool is not added.
#[test]
fn an_invalid_schema_is_refused() {
    for schema in [
        json!({ "type": "objekt" }),
        json!({ "type": 5 }),
        json!({ "properties": [] }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
        json!({ "$ref": "#/$defs/missing" }),
        // Nothing is fetched.
        json!({ "$ref": "https://example.com/schema.json" }),
        json!([]),
        json!("object"),
        json!(null),
    ] {
        let mut registry = Registry::new();
        let spec = ToolSpec::irreversible("email", "send").unwrap().schema(schema.clone());
        let refused = registry.add(spec, done);
        assert_err!(refused, InvalidContract::InvalidSchema { tool, .. } if tool == "email.send");
        assert_eq!(registry.tools().count(), 0, "{schema}");
    }
    // The one that was there before stays.
    let mut registry = registry();
    registry.add(send().schema(json!({ "type": 5 })), done).unwrap_err();
    assert_err!(plan(&registry, "email.send", "{}"), InvalidContract::Arguments { .. });
}

/// Schemas that are legal, and odd: everything, nothing, and one that refers to itself.
#[test]
fn odd_schemas_are_schemas() {
    for (schema, fits) in [
        (json!({}), true),
        (json!(true), true),
        (json!(false), false),
        (json!({ "type": "array" }), false),
        (json!({ "additionalProperties": { "$ref": "#" } }), true),
        (json!({ "type": "object", "additionalProperties": { "$ref": "#" } }), false),
    ] {
        let mut registry = Registry::new();
        let spec = ToolSpec::idempotent("s", "m").unwrap().schema(schema.clone());
        registry.add(spec, done).unwrap();
        assert_eq!(plan(&registry, "s.m", r#"{"a":1}"#).is_ok(), fits, "{schema}");
    }
}

/// Adding a tool again changes its schema, and raises its effect, but never lowers it.
#[test]
fn the_effect_of_a_tool_is_never_lowered() {
    let (low, high) = (Effect::Idempotent, Effect::Irreversible);
    let spec = |effect| match effect {
        Effect::Idempotent => ToolSpec::idempotent("files", "delete").unwrap(),
        Effect::Irreversible => ToolSpec::irreversible("files", "delete").unwrap(),
    };
    for (added, expected) in [
        (vec![low], low),
        (vec![low, low], low),
        (vec![low, high], high),
        (vec![high, low], high),
        (vec![low, high, low, low], high),
    ] {
        let mut registry = Registry::new();
        for effect in added {
            registry.add(spec(effect), done).unwrap();
        }
        assert_eq!(registry.tools().map(ToolSpec::effect).collect::<Vec<_>>(), [expected]);
        let contract = plan(&registry, "files.delete", "{}").unwrap();
        assert_eq!((contract.effect(), contract.is_irreversible()), (expected, expected == high));
    }
}

/// A server that offers a tool again without its schema does not lift the checks.
#[test]
fn a_tool_keeps_its_schema() {
    let mut registry = registry();
    registry.add(ToolSpec::irreversible("email", "send").unwrap(), done).unwrap();
    let refused = plan(&registry, "email.send", r#"{"to": "bob@example.com", "copies": 0}"#);
    assert_err!(refused, InvalidContract::Arguments { .. });
    registry.add(send().schema(json!({ "type": "object" })), done).unwrap();
    assert!(plan(&registry, "email.send", r#"{"copies": 0}"#).is_ok());
}

/// A contract that was made when the tool was idempotent is refused after it was raised; one that
/// is more careful than the tool is not.
#[test]
fn a_contract_is_checked_against_the_effect() {
    let mut registry = registry();
    let before = plan(&registry, "files.read", "{}").unwrap();
    registry.check_call(&before).unwrap();
    registry.check_call(&before.clone().irreversible()).unwrap();
    let raised = ToolSpec::idempotent("files", "read").unwrap().raise(Effect::Irreversible);
    registry.add(raised, done).unwrap();
    assert_err!(registry.check_call(&before), InvalidContract::EffectLowered { tool }
        if tool == "files.read");
}

async fn performed(registry: Registry, contract: Contract) -> Settled {
    let store = Store::memory();
    let planned = planned::<Action>(&store, contract).await.unwrap();
    store.perform(planned, registry, tool_node()).await.unwrap()
}

/// The registry is the service: it calls the function of the tool that the action names, once.
#[tokio::test]
async fn the_function_of_the_tool_is_called() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut registry = registry();
    let counter = Arc::clone(&calls);
    registry
        .add(send(), move |call: &Call<Action>| {
            counter.fetch_add(1, Ordering::SeqCst);
            let to = call.arguments.detail()["args"]["to"].to_string();
            Box::pin(async move { Ok(Applied::new(format!("sent to {to}"))) })
        })
        .unwrap();
    let contract = plan(&registry, "email.send", r#"{"to":"bob@example.com"}"#).unwrap();
    let Settled::Completed(sent) = performed(registry, contract).await else { panic!("not sent") };
    assert_eq!(sent.state().result, r#"sent to "bob@example.com""#);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A registry whose only function is not called.
fn uncalled() -> Registry {
    fn never(_call: &Call<Action>) -> BoxFuture<'_, ToolAnswer<Action>> {
        panic!("it was called")
    }
    let mut registry = Registry::new();
    registry.add(send(), never).unwrap();
    registry
}

/// A call of a tool that is not registered, and an action that is not a call, end at once.
#[tokio::test]
async fn an_unknown_tool_is_not_called() {
    let unknown = ToolSpec::irreversible("email", "sent").unwrap();
    let unknown = Contract::tool_call(&unknown, "{}", reasoning_node()).unwrap();
    let question = Contract::ecs_request("Sure?", reasoning_node()).unwrap().irreversible();
    for (contract, reason) in
        [(unknown, "`email.sent` is not registered"), (question, "not a tool call")]
    {
        let Settled::Failed(failed) = performed(uncalled(), contract).await else { panic!() };
        assert!(failed.state().error.contains(reason), "{}", failed.state().error);
    }
}

/// A stored action that no longer fits does not begin. If the program begins it without the
/// registry, it is not called.
#[tokio::test]
async fn an_action_that_does_not_fit_is_not_called() {
    let spec = ToolSpec::irreversible("email", "send").unwrap();
    let contract = Contract::tool_call(&spec, "{}", reasoning_node()).unwrap();
    let lowered = ToolSpec::idempotent("email", "send").unwrap();
    let arguments = r#"{"to":"bob@example.com"}"#;
    let lowered = Contract::tool_call(&lowered, arguments, reasoning_node()).unwrap();
    for (contract, reason) in
        [(contract, "do not match `email.send`"), (lowered, "the contract says otherwise")]
    {
        let store = Store::memory();
        let planned = planned::<Action>(&store, contract).await.unwrap();
        let id = planned.id();
        let refused = store.perform(planned, uncalled(), tool_node()).await.unwrap_err();
        let PerformError::NotBegun { planned, source } = refused else { panic!("{refused:?}") };
        assert!(matches!(&source, EffectError::Contract { .. }), "{source:?}");
        assert!(source.to_string().contains(reason), "{source}");
        assert!(matches!(store.load(id).await.unwrap(), AnyExecution::Pending(_)));

        let (running, permit) = store.begin(*planned, tool_node()).await.unwrap();
        let outcome = permit.call(uncalled()).await;
        let settled = store.settle(running, outcome, tool_node()).await.unwrap();
        let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
        assert!(failed.state().error.contains(reason), "{}", failed.state().error);
    }
}
