//! Invalid input is refused, and the error suggests a fix.

use machine::contract::{Contract, InvalidContract, ToolSpec};
use machine_tests::actors::reasoning_node;
use machine_tests::assert_err;
use proptest::prelude::*;

fn call(arguments: &str) -> Result<Contract, InvalidContract> {
    Contract::tool_call(
        &ToolSpec::irreversible("email", "send").unwrap(),
        arguments,
        reasoning_node(),
    )
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

proptest! {
    /// Any text gives a contract or a typed error, never a panic.
    #[test]
    fn any_text_is_a_contract_or_an_error(text in ".*|[\\[\\]{}\",:0-9a-z ]{0,40}") {
        let is_object = serde_json::from_str::<serde_json::Value>(&text)
            .is_ok_and(|value| value.is_object());
        prop_assert_eq!(call(&text).is_ok(), is_object);
    }
}
