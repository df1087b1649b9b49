//! The idempotency key: service, method and arguments, independent of key order (EX-5).

use machine::contract::{Action, ActionType, Contract, InvalidContract, ToolSpec};
use machine_tests::{actors::reasoning_node, assert_err};
use proptest::{prelude::*, sample::Index};
use serde_json::{Map, Value};

fn key(service: &str, method: &str, arguments: &str) -> String {
    let tool = ToolSpec::irreversible(service, method).unwrap();
    let contract = Contract::tool_call(&tool, arguments, reasoning_node()).unwrap();
    contract.idempotency_key().unwrap().to_string()
}

pub(super) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            objects(inner).prop_map(Value::from),
        ]
    })
}

pub(super) fn objects(
    inner: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-zé\"\\\\]{0,3}", inner, 0..5)
        .prop_map(|map| map.into_iter().collect())
}

/// JSON text with whitespace, and with keys in an order that `turn` selects.
pub(super) fn written(value: &Value, turn: usize) -> String {
    match value {
        Value::Object(map) => {
            let mut items: Vec<String> = map
                .iter()
                .map(|(name, value)| {
                    format!("{} :\t{}", Value::from(&**name), written(value, turn))
                })
                .collect();
            if turn % 2 == 1 {
                items.reverse();
            }
            let middle = if items.is_empty() { 0 } else { turn % items.len() };
            items.rotate_left(middle);
            format!("{{ {} }}", items.join(" ,\n"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, turn)).collect();
            format!("[ {} ]", items.join(" , "))
        }
        scalar => scalar.to_string(),
    }
}

/// Variants of `value` in which one object, at any depth, has one value changed, or one key
/// renamed, added or removed.
pub(super) fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => {
            let mut all = Vec::new();
            for (name, inner) in map {
                for other in changed(inner) {
                    let mut map = map.clone();
                    map[name] = other;
                    all.push(map.into());
                }
                let mut less = map.clone();
                let inner = less.remove(name).unwrap();
                all.push(less.clone().into());
                less.insert(format!("{name}!"), inner);
                all.push(less.into());
            }
            let mut more = map.clone();
            more.insert("more".to_owned(), Value::Null);
            all.push(more.into());
            all
        }
        Value::Array(items) => {
            let mut all = vec![Value::from(Map::new())];
            for (at, inner) in items.iter().enumerate() {
                for other in changed(inner) {
                    let mut items = items.clone();
                    items[at] = other;
                    all.push(items.into());
                }
            }
            let mut more = items.clone();
            more.push(Value::Null);
            all.push(more.into());
            all
        }
        Value::String(text) => vec![format!("{text} ").into(), Value::Null],
        Value::Number(number) => {
            let other = i32::from(number.as_f64() == Some(0.0));
            vec![Value::Array(vec![value.clone()]), number.to_string().into(), other.into()]
        }
        scalar => vec![Value::Array(vec![scalar.clone()]), scalar.to_string().into()],
    }
}

proptest! {
    /// Key order and whitespace, at any depth, do not affect the key.
    #[test]
    fn the_order_of_keys_does_not_matter(
        arguments in objects(values()),
        first in 0..12_usize,
        second in 0..12_usize,
    ) {
        let arguments = Value::from(arguments);
        let first = key("email", "send", &written(&arguments, first));
        prop_assert_eq!(&first, &key("email", "send", &written(&arguments, second)));
        prop_assert_eq!(first, key("email", "send", &arguments.to_string()));
    }

    /// Any change, at any depth, gives a different key.
    #[test]
    fn any_change_is_another_key(arguments in objects(values()), chosen in any::<Index>()) {
        let arguments = Value::from(arguments);
        let variants = changed(&arguments);
        let other = chosen.get(&variants);
        prop_assert_ne!(
            key("email", "send", &arguments.to_string()),
            key("email", "send", &other.to_string()),
            "{} and {}", arguments, other
        );
    }
}

/// List order matters, and text differs from a number.
#[test]
fn lists_and_types_count() {
    let keys = [
        r#"{"to":["a","b"]}"#,
        r#"{"to":["b","a"]}"#,
        r#"{"to":"a,b"}"#,
        r#"{"n":1}"#,
        r#"{"n":"1"}"#,
        r#"{"n":true}"#,
        r#"{"n":null}"#,
        "{}",
    ]
    .map(|arguments| key("email", "send", arguments));
    for (at, one) in keys.iter().enumerate() {
        assert!(!keys[at + 1..].contains(one), "{one}");
    }
}

/// The key starts with service and method, and contains no argument in clear text.
#[test]
fn a_key_names_the_tool_and_hides_the_arguments() {
    for method in ["send", "send.now"] {
        let key = key("email", method, r#"{"to":"bob@example.com"}"#);
        assert!(key.starts_with(&format!("email:{method}:")), "{key}");
        assert!(!key.contains("bob"), "{key}");
    }
}

/// Two tools never share a key, even with separators in their names.
#[test]
fn two_tools_have_two_keys() {
    assert_ne!(key("mail", "send", "{}"), key("mail", "draft", "{}"));
    assert_ne!(key("a:b", "c", "{}"), key("a", "b:c", "{}"));
}

/// Strings are compared after parsing: escapes do not matter.
#[test]
fn escapes_do_not_matter() {
    assert_eq!(
        key("email", "send", r#"{"to":"b\u00f6b\/x"}"#),
        key("email", "send", r#"{ "to" : "böb/x" }"#)
    );
}

/// Two values that differ are two keys. With `--features odd-json`, numbers of any length are kept
/// as they are written.
#[test]
fn equal_keys_mean_equal_arguments() {
    let call = |number: &str| {
        let tool = ToolSpec::irreversible("bank", "pay").unwrap();
        let arguments = format!(r#"{{"cents":{number}}}"#);
        Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap()
    };
    for (one, other) in [
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551615", "18446744073709551614"),
        ("123456789012345678901234567890", "123456789012345678901234567891"),
        ("0.1", "0.10000000000000001"),
    ] {
        let (one, other) = (call(one), call(other));
        let text = |call: &Contract| call.action().detail()["args"].to_string();
        if one.idempotency_key() == other.idempotency_key() {
            assert_eq!(text(&one), text(&other), "one key for two payments");
        }
        if one.action().digest() == other.action().digest() {
            assert_eq!(text(&one), text(&other), "one approval for two payments");
        }
    }
}

/// Numbers that are equal make equal keys, however large they are.
#[test]
fn equal_numbers_make_equal_keys() {
    for equal in [
        &["1", "1.0", "1e0", "10e-1", "1.00"][..],
        &["0", "-0", "0.0", "-0.0", "0e5", "-0e5"],
        &["9007199254740992", "9007199254740992.0", "9.007199254740992e15"],
        &["-9007199254740992", "-9007199254740992.0"],
        &["9007199254740994", "9007199254740994.0"],
        &["1000000000000000000", "1e18", "1E+18", "1000000000000000000.0"],
        &["10000000000000000000", "1e19", "10000000000000000000.0"],
        &["-9223372036854775808", "-9223372036854775808.0"],
        &["100000000000000000000", "1e20", "100000000000000000000.0"],
        &["0.1", "1e-1", "0.10", "0.1000"],
        &["1.5e300", "15e299"],
    ] {
        let keys: Vec<_> =
            equal.iter().map(|one| key("bank", "pay", &format!(r#"{{"n":{one}}}"#))).collect();
        for (one, key) in equal.iter().zip(&keys) {
            assert_eq!(key, &keys[0], "{one} and {}", equal[0]);
        }
    }
    for (one, other) in [
        ("9007199254740993", "9007199254740992"),
        ("9007199254740993", "9007199254740994"),
        ("18446744073709551615", "18446744073709551616"),
        ("9223372036854775807", "9223372036854775808"),
    ] {
        let of = |number: &str| key("bank", "pay", &format!(r#"{{"n":{number}}}"#));
        assert_ne!(of(one), of(other), "{one} and {other}");
    }
}

/// These keys are the same whatever features of `serde_json` the program enables
/// (`--features odd-json`).
#[test]
fn keys_do_not_depend_on_the_build() {
    for (arguments, expected) in [
        (r#"{"n":1.10}"#, "1.1"),
        (r#"{"n":123456789012345678901234567890}"#, "1.2345678901234568e+29"),
        (r#"{"n":0.1234567890123456789}"#, "0.12345678901234568"),
        (r#"{"n":1e-400}"#, "0"),
        (r#"{"n":2.2250738585072011e-308}"#, "2.225073858507201e-308"),
        (r#"{"n":1e22}"#, "1e+22"),
        (r#"{"n":18446744073709551616}"#, "18446744073709552000"),
    ] {
        // The form of the number that `serde_json` writes in every build.
        let plain = format!(r#"{{"n":{expected}}}"#);
        assert_eq!(key("bank", "pay", arguments), key("bank", "pay", &plain), "{arguments}");
    }
}

/// Arguments that the other build reads differently, or not at all, are refused in both.
#[test]
fn values_that_other_builds_cannot_read_are_refused() {
    let call = |arguments: &str| {
        let tool = ToolSpec::irreversible("bank", "pay").unwrap();
        Contract::tool_call(&tool, arguments, reasoning_node())
    };
    for arguments in [
        r#"{"n":1e400}"#,
        r#"{"n":[{"deep":-1e309}]}"#,
        r#"{"a":{"$serde_json::private::Number":"1.10"}}"#,
        r#"{"a":{"\u0024serde_json::private::Number" : "1.10"}}"#,
        r#"{"a":{"$serde_json::private::RawValue":"[1]"}}"#,
        r#"{"$serde_json::private::Number":"1"}"#,
    ] {
        let refused = call(arguments);
        let is_typed =
            matches!(refused, Err(InvalidContract::NotJson(_) | InvalidContract::Unportable(_)));
        assert!(is_typed, "{arguments}: {refused:?}");
    }
    // As a value it is only a text.
    call(r#"{"a":"$serde_json::private::Number"}"#).unwrap();
    call(r#"{"a":"{\"$serde_json::private::Number\":\"1e400\"}"}"#).unwrap();
    let mut detail = Map::new();
    detail.insert("$serde_json::private::Number".to_owned(), Value::from("1"));
    let action_type = ActionType::Other("x".to_owned());
    assert_err!(Action::new(action_type, detail), InvalidContract::Unportable(_));
}
