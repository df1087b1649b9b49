//! Size limits of an action.

use machine::contract::{Action, ActionType, Contract, InvalidContract, ToolSpec};
use machine_tests::actors::reasoning_node;
use machine_tests::assert_err;
use serde_json::{Map, Value};

const LIMIT: usize = Action::MAX_DETAIL_BYTES;

fn call(arguments: &str) -> Result<Contract, InvalidContract> {
    Contract::tool_call(
        &ToolSpec::irreversible("email", "send").unwrap(),
        arguments,
        reasoning_node(),
    )
}

fn webhook(detail: Map<String, Value>) -> Result<Action, InvalidContract> {
    Action::new(ActionType::Other("webhook".to_owned()), detail)
}

/// A detail whose JSON text has this many bytes: `{"a":"xx.."}`.
fn detail(bytes: usize) -> Map<String, Value> {
    let detail = Map::from_iter([("a".to_owned(), Value::from("x".repeat(bytes - 8)))]);
    assert_eq!(serde_json::to_string(&detail).unwrap().len(), bytes);
    detail
}

/// The limit is inclusive.
#[test]
fn the_limit_is_exact() {
    assert_eq!(LIMIT, 256 * 1024);
    let action = webhook(detail(LIMIT)).unwrap();
    assert_eq!(action.detail().len(), 1);
    let refused = webhook(detail(LIMIT + 1));
    assert_err!(refused, InvalidContract::TooLarge { bytes } if *bytes == LIMIT + 1);
}

/// The limit counts bytes, not characters.
#[test]
fn bytes_are_counted() {
    let wide = Map::from_iter([("a".to_owned(), Value::from("邮".repeat(LIMIT / 3)))]);
    assert_err!(webhook(wide), InvalidContract::TooLarge { .. });
}

/// For a tool call, service and method count too: they are part of the stored detail.
#[test]
fn a_call_may_fill_the_limit() {
    let frame = r#"{"args":{"a":""},"method":"send","service":"email"}"#.len();
    let arguments = |fill: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(fill));
    call(&arguments(LIMIT - frame)).unwrap();
    let refused = call(&arguments(LIMIT - frame + 1));
    assert_err!(refused, InvalidContract::TooLarge { bytes } if *bytes == LIMIT + 1);
}

/// A megabyte is refused before parsing, with its size, the limit and a fix.
#[test]
fn a_megabyte_is_refused() {
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(1_000_000));
    let refused = call(&large);
    assert_err!(refused, InvalidContract::TooLarge { bytes } if *bytes == large.len());
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("1000008 bytes") && text.contains("262144"), "{text}");
    assert!(text.contains("store the content elsewhere"), "{text}");
    assert_err!(call(&"[".repeat(1_000_000)), InvalidContract::TooLarge { .. });

    let question = Contract::ecs_request(&"x".repeat(1_000_000), reasoning_node());
    assert_err!(question, InvalidContract::TooLarge { .. });
}

/// Deep nesting is an error, not a stack overflow.
#[test]
fn deep_nesting_is_refused() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_err!(call(&deep), InvalidContract::NotJson(_));
}
