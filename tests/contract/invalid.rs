//! Invalid and oversized input is refused, and the error suggests a fix.

use machine::contract::{Action, ActionType, Contract, Execution, InvalidContract, ToolSpec};
use machine_tests::actors::reasoning_node;
use machine_tests::assert_err;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn call(arguments: &str) -> Result<Contract, InvalidContract> {
    Contract::tool_call(
        &ToolSpec::irreversible("email", "send").unwrap(),
        arguments,
        reasoning_node(),
    )
}

const LIMIT: usize = 256 * 1024;

fn webhook(detail: Map<String, Value>) -> Result<Action, InvalidContract> {
    Action::new(ActionType::Other("webhook".to_owned()), detail)
}

/// A detail whose JSON text has this many bytes: `{"a":"xx.."}`.
fn detail(bytes: usize) -> Map<String, Value> {
    let detail = Map::from_iter([("a".to_owned(), Value::from("x".repeat(bytes - 8)))]);
    assert_eq!(serde_json::to_string(&detail).unwrap().len(), bytes);
    detail
}

/// Text that is not valid JSON.
#[test]
fn malformed_json_is_refused() {
    for text in ["", " ", "{", "{'to':'bob'}", r#"{"to":"bob"} x"#, r#"{"n":NaN}"#, "\u{feff}{}"] {
        let refused = call(text);
        assert_err!(refused, InvalidContract::NotJson(_));
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("pass an object such as"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

/// JSON that is not an object.
#[test]
fn json_that_is_not_an_object_is_refused() {
    for (text, what) in [
        ("[]", "an array"),
        ("\"to\"", "a string"),
        ("1.5", "a number"),
        ("true", "a boolean"),
        ("null", "null"),
    ] {
        let refused = call(text);
        assert_err!(refused, InvalidContract::NotAnObject(found) if *found == what);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(what) && text.contains("pass an object such as"), "{text}");
    }
}

/// Names and questions must not be empty.
#[test]
fn empty_names_and_questions_are_refused() {
    assert_err!(ToolSpec::irreversible("", "send"), InvalidContract::Empty("service"));
    assert_err!(ToolSpec::idempotent("email", ""), InvalidContract::Empty("method"));
    let refused = Contract::ecs_request("", reasoning_node());
    assert_err!(refused, InvalidContract::Empty("question"));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the question is empty; pass a non-empty question"
    );
}

/// The limit is inclusive, and counts bytes, not characters. For a tool call, service and method
/// count too: they are part of the stored detail.
#[test]
fn the_limit_is_exact() {
    let action = webhook(detail(LIMIT)).unwrap();
    assert_eq!(action.detail().len(), 1);
    let wide = Map::from_iter([("a".to_owned(), Value::from("邮".repeat(LIMIT / 3)))]);
    assert_err!(webhook(wide), InvalidContract::TooLarge { .. });
    let frame = r#"{"args":{"a":""},"method":"send","service":"email"}"#.len();
    let arguments = |fill: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(fill));
    call(&arguments(LIMIT - frame)).unwrap();
    let large_call = call(&arguments(LIMIT - frame + 1)).map(drop);
    for refused in [webhook(detail(LIMIT + 1)).map(drop), large_call] {
        assert_err!(refused, InvalidContract::TooLarge { bytes } if *bytes == LIMIT + 1);
    }
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
    let fits = "x".repeat(1_048_576 - 2000);
    let mut small = Execution::new(call(r#"{"n": 1}"#).unwrap().note("log", fits));
    store.create(&mut small).await.unwrap();
    let too_large = "x".repeat(1_048_576);
    let mut large = Execution::new(call(r#"{"n": 2}"#).unwrap().note("log", too_large));
    let error = store.create(&mut large).await.unwrap_err().to_string();
    assert!(error.contains("the limit is 1048576; keep its notes elsewhere"), "{error}");
}

proptest! {
    /// Any text gives a contract or a typed error, never a panic.
    #[test]
    fn any_text_is_a_contract_or_an_error(text in ".*|[\\[\\]{}\",:0-9a-z ]{0,40}") {
        let is_object = serde_json::from_str::<Value>(&text)
            .is_ok_and(|value| value.is_object());
        prop_assert_eq!(call(&text).is_ok(), is_object);
    }
}
