//! An action that is read from data passes the same checks as one that is made here.

use machine::contract::{Action, ActionType, Contract, Effect, InvalidContract, ToolSpec};
use machine_tests::{actors::reasoning_node, assert_err};
use serde_json::{Map, Value, json};

fn read(action_type: &str, detail: &Value) -> Result<Action, String> {
    let json = json!({ "action_type": action_type, "action_detail": detail }).to_string();
    serde_json::from_str(&json).map_err(|error| error.to_string())
}

fn made(action_type: &str, detail: &Value) -> Result<Action, InvalidContract> {
    let detail = detail.as_object().cloned().unwrap_or_default();
    Action::new(action_type.to_owned().into(), detail)
}

/// An action survives the round trip through its parts.
#[test]
fn an_action_goes_there_and_back() {
    for (action_type, detail) in [
        ("webhook", json!({})),
        ("webhook", json!({ "service": 1, "occurrence": [] })),
        ("ecs_request", json!({ "type": "confirmation", "message": "Sure?" })),
        ("tool_call", json!({ "service": "email", "method": "send", "args": {} })),
        (
            "tool_call",
            json!({
                "service": "email", "method": "send", "args": { "to": "bob", "at": 5 },
                "identity": { "to": "bob" }, "occurrence": "2026-W47",
            }),
        ),
    ] {
        let action = made(action_type, &detail).unwrap();
        let json = serde_json::to_value(&action).unwrap();
        assert_eq!(json, json!({ "action_type": action_type, "action_detail": detail }));
        let back: Action = serde_json::from_value(json).unwrap();
        assert_eq!((&back, back.digest()), (&action, action.digest()));
    }
}

/// An invalid tool call is refused with the reason, whether it is made here or read.
#[test]
fn a_tool_call_has_the_parts_of_one() {
    for (detail, reason) in [
        (json!({}), "needs `service`, `method`"),
        (json!({ "service": "email", "args": {} }), "needs `service`, `method`"),
        (json!({ "service": 1, "method": "send", "args": {} }), "needs `service`, `method`"),
        (json!({ "service": "email", "method": "send" }), "the object `args`"),
        (json!({ "service": "email", "method": "send", "args": [] }), "the object `args`"),
        (json!({ "service": "a.b", "method": "send", "args": {} }), "a dot"),
        (json!({ "service": "", "method": "send", "args": {} }), "is empty"),
        (json!({ "service": "email", "method": "", "args": {} }), "is empty"),
        (
            json!({ "service": "email", "method": "send", "args": {}, "occurrence": 1 }),
            "occurrence is not a string",
        ),
        (
            json!({ "service": "email", "method": "send", "args": {}, "occurrence": null }),
            "occurrence is not a string",
        ),
        (
            json!({ "service": "email", "method": "send", "args": {}, "irreversible": false }),
            "an unknown member",
        ),
    ] {
        let refused = made("tool_call", &detail);
        assert_err!(refused, InvalidContract::NotACall(found) if found.contains(reason));
        let error = read("tool_call", &detail).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

/// The limits hold for what is read, too.
#[test]
fn the_limits_hold_for_data() {
    let large = json!({ "a": "x".repeat(262_144) });
    let error = read("webhook", &large).unwrap_err();
    assert!(error.contains("262144"), "{error}");
    let nested = |levels: usize| {
        let deep = (2..levels).fold(json!([]), |inner, _| json!([inner]));
        json!({ "a": deep })
    };
    assert_err!(made("webhook", &nested(65)), InvalidContract::TooDeep);
    for (levels, fits) in [(64, true), (65, false)] {
        assert_eq!(made("webhook", &nested(levels)).is_ok(), fits, "{levels}");
        assert_eq!(read("webhook", &nested(levels)).is_ok(), fits, "{levels}");
    }
}

/// Anything but exactly the two members is an error, not a guess.
#[test]
fn other_json_is_no_action() {
    for json in [
        "null",
        "[]",
        r#""webhook""#,
        "{}",
        r#"{"action_type":"webhook"}"#,
        r#"{"action_detail":{}}"#,
        r#"{"action_type":"webhook","action_detail":[]}"#,
        r#"{"action_type":1,"action_detail":{}}"#,
        r#"{"action_type":"webhook","action_detail":{},"irreversible":false}"#,
        r#"{"action_type":"webhook","action_type":"tool_call","action_detail":{}}"#,
    ] {
        assert!(serde_json::from_str::<Action>(json).is_err(), "{json}");
    }
}

/// A type that is spelled in another way is another type, and not a tool call without its checks.
#[test]
fn an_unknown_type_is_not_a_tool_call() {
    for name in ["Tool_call", "tool_call ", "toolcall", ""] {
        let action = Action::new(name.to_owned().into(), Map::new()).unwrap();
        assert_eq!(action.action_type(), &ActionType::Other(name.to_owned()));
    }
    let forged = Action::new(ActionType::Other("tool_call".to_owned()), Map::new());
    assert_err!(forged, InvalidContract::NotACall(_));
}

/// A tool call cannot choose its own key: who makes one from data names neither what identifies it
/// nor an occasion.
#[test]
fn an_action_does_not_choose_its_key() {
    for (name, value) in
        [("identity", json!("mine")), ("identity", json!(null)), ("occurrence", json!("again"))]
    {
        let mut detail = json!({ "service": "email", "method": "send", "args": { "to": "bob" } });
        detail[name] = value;
        let action: Action = serde_json::from_value(json!({
            "action_type": "tool_call", "action_detail": detail,
        }))
        .unwrap();
        let refused = Contract::action_of(action, Effect::Irreversible, reasoning_node());
        assert_err!(refused, InvalidContract::NotACall(why) if why.contains("it sets its own"));
    }
    // An action of another type has no such parts.
    let webhook = made("webhook", &json!({ "occurrence": "again" })).unwrap();
    assert!(Contract::action_of(webhook, Effect::Irreversible, reasoning_node()).is_ok());
}

/// The names of a tool are one visible word each, and look like no other word.
#[test]
fn the_names_of_a_tool_are_visible_words() {
    for odd in [
        "a b",
        "a\tb",
        "a\nb",
        "a\u{a0}b",
        "a\u{200b}b",
        "a\u{202e}b",
        "a\u{1b}[2J",
        "\0",
        " ",
        "read? Harmless",
        "\u{ff42}ank",
        "pa\u{1d432}",
        "bank\u{fe0f}",
        "\u{fb01}nd",
    ] {
        for (service, method) in [(odd, "send"), ("email", odd)] {
            let detail = json!({ "service": service, "method": method, "args": {} });
            assert_err!(made("tool_call", &detail), InvalidContract::NotACall(_));
            assert!(read("tool_call", &detail).is_err(), "{odd:?}");
            let spec = ToolSpec::irreversible(service, method);
            let refused = spec.and_then(|spec| Contract::tool_call(&spec, "{}", reasoning_node()));
            assert_err!(refused, InvalidContract::NotACall(_));
        }
    }
    for plain in ["send_mail", "send-mail", "sendMail", "发送", "a:b", "a/b", "a%b"] {
        let detail = json!({ "service": plain, "method": plain, "args": {} });
        assert!(made("tool_call", &detail).is_ok(), "{plain}");
    }
}
