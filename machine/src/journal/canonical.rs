use std::fmt::Write;

use serde_json::{Map, Number, Value};

/// JSON text with sorted keys, without whitespace, and with numbers in one form.
///
/// The text does not depend on the features of `serde_json` that other crates of the program enable:
/// with `preserve_order` maps are not sorted, and with `arbitrary_precision` numbers keep the text
/// that they were read from.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => write_object(map, text),
        Value::Array(items) => {
            text.push('[');
            for (at, value) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(value, text);
            }
            text.push(']');
        }
        Value::Number(number) => self::number(number, text),
        Value::String(value) => string(value, text),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Null => text.push_str("null"),
    }
}

/// Appends an object in canonical form.
pub(super) fn write_object(map: &Map<String, Value>, text: &mut String) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    text.push('{');
    for (at, (key, value)) in entries.into_iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        string(key, text);
        text.push(':');
        write(value, text);
    }
    text.push('}');
}

fn string(value: &str, text: &mut String) {
    // Most text needs no escape, so that it can be copied as it is.
    if value.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        text.push('"');
        text.push_str(value);
        text.push('"');
    } else {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}", Value::from(value));
    }
}

fn number(number: &Number, text: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{}", plain_number(number));
}

/// The number in the form that `serde_json` gives it without `arbitrary_precision`: an integer of 64
/// bits, or a float.
fn plain_number(number: &Number) -> Number {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        // Zero has a sign only as a float.
        (Some(0), ..) if number.to_string() == "-0" => Number::from_f64(-0.0),
        (Some(whole), ..) => Some(whole.into()),
        (_, Some(whole), _) => Some(whole.into()),
        (.., Some(float)) => Number::from_f64(float),
        _ => None,
    }
    // Too large for a float: only `arbitrary_precision` reads such a number.
    .unwrap_or_else(|| number.clone())
}

/// The value with every number in its plain form.
pub(crate) fn plain_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(plain_number(&number)),
        Value::Array(items) => items.into_iter().map(plain_numbers).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, plain_numbers(value))).collect()
        }
        other => other,
    }
}

/// Whether the value is nested too deeply to be read back: `serde_json` stops at 128 levels, and a
/// stored value is inside of other JSON.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    depth(value) > 120
}

/// The number of nested arrays and objects.
pub(crate) fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(map) => map.values().map(depth).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}
