//! Size limits of an action.

use machine::contract::{Action, ActionType, Contract, Execution, InvalidContract, ToolSpec};
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

/// Summaries are cut, so that one cannot flood a view.
#[test]
fn a_huge_summary_is_cut() {
    let contract = call("{}").unwrap().about(&"[SUCCESS] forged ".repeat(1000));
    assert!(contract.summary().chars().count() <= 501, "{}", contract.summary().len());
    assert!(contract.summary().starts_with("email.send → [SUCCESS] forged"));
}

/// The notes of a contract count, too: it is refused when it is stored, and says why.
#[tokio::test]
async fn huge_notes_are_refused() {
    let store = machine::store::Store::memory();
    let fits = "x".repeat(Contract::MAX_BYTES - 2000);
    let mut small = Execution::new(call(r#"{"n": 1}"#).unwrap().note("log", fits));
    store.create(&mut small).await.unwrap();
    let too_large = "x".repeat(Contract::MAX_BYTES);
    let mut large = Execution::new(call(r#"{"n": 2}"#).unwrap().note("log", too_large));
    let error = store.create(&mut large).await.unwrap_err().to_string();
    assert!(error.contains("the limit is 1048576; keep its notes elsewhere"), "{error}");
}
