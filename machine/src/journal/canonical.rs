use std::fmt::Write;

use serde_json::{Map, Number, Value};

/// JSON text with sorted keys, without whitespace, and with numbers in one form.
///
/// The text does not depend on the features of `serde_json` that other crates of the program
/// enable: with `preserve_order` maps are not sorted, and with `arbitrary_precision` numbers keep
/// the text that they were read from.
pub(crate) fn canonical(value: &Value) -> String {
    text_of(value, plain_number)
}

/// Like [`canonical`], for an object.
pub(crate) fn canonical_object(map: &Map<String, Value>) -> String {
    let mut text = String::with_capacity(USUAL);
    write_object(map, &mut text);
    text
}

/// Like [`canonical`], with whole numbers written as integers: models write both `1` and `1.0` for
/// the same value.
pub(crate) fn canonical_whole(value: &Value) -> String {
    text_of(value, whole_number)
}

/// Like [`canonical_whole`], for an object.
pub(crate) fn canonical_whole_object(map: &Map<String, Value>) -> String {
    let mut text = String::with_capacity(USUAL);
    object(map, &mut text, whole_number);
    text
}

pub(super) fn write_object(map: &Map<String, Value>, text: &mut String) {
    object(map, text, plain_number);
}

/// The usual length of a text, in bytes.
pub(super) const USUAL: usize = 128;

/// Converts a number to the form in which it is written.
type Form = fn(&Number) -> Number;

fn text_of(value: &Value, form: Form) -> String {
    let mut text = String::with_capacity(USUAL);
    write(value, &mut text, form);
    text
}

fn write(value: &Value, text: &mut String, form: Form) {
    match value {
        Value::Object(map) => object(map, text, form),
        Value::Array(items) => {
            text.push('[');
            for (at, value) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(value, text, form);
            }
            text.push(']');
        }
        Value::Number(number) => {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}", form(number));
        }
        Value::String(value) => string(value, text),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Null => text.push_str("null"),
    }
}

fn object(map: &Map<String, Value>, text: &mut String, form: Form) {
    text.push('{');
    if map.keys().is_sorted() {
        members(map.iter(), text, form);
    } else {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        members(entries.into_iter(), text, form);
    }
    text.push('}');
}

fn members<'a>(
    entries: impl Iterator<Item = (&'a String, &'a Value)>,
    text: &mut String,
    form: Form,
) {
    for (at, (key, value)) in entries.enumerate() {
        if at > 0 {
            text.push(',');
        }
        string(key, text);
        text.push(':');
        write(value, text, form);
    }
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

/// The number in the form that `serde_json` gives it without `arbitrary_precision`: an integer of
/// 64 bits, or a float.
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

/// The plain form, as an integer if the number is a whole one of 64 bits, so that numbers that are
/// equal have one form.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the ranges are checked"
)]
fn whole_number(number: &Number) -> Number {
    // 2^63 and 2^64, which a double represents exactly.
    const SIGNED: f64 = 9_223_372_036_854_775_808.0;
    const UNSIGNED: f64 = 18_446_744_073_709_551_616.0;
    let number = plain_number(number);
    match number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
        Some(float) if (-SIGNED..SIGNED).contains(&float) => Number::from(float as i64),
        Some(float) if (0.0..UNSIGNED).contains(&float) => Number::from(float as u64),
        _ => number,
    }
}

/// The value with every number in its plain form.
pub(crate) fn plain_numbers(mut value: Value) -> Value {
    make_plain(&mut value);
    value
}

/// Like [`plain_numbers`], in place.
pub(crate) fn make_plain(value: &mut Value) {
    match value {
        Value::Number(number) => *number = plain_number(number),
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        Value::Object(map) => map.values_mut().for_each(make_plain),
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// The deepest nesting of a field or of an item of a payload: `serde_json` stops reading at 128
/// levels, and a stored value is inside of other JSON.
pub(super) const DEEPEST: usize = 120;

/// Returns `true` if the value is nested too deeply to be read back.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    depth(value) > DEEPEST
}

fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(map) => return depth_of_object(map),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}

/// Like [`depth`], for an object.
pub(crate) fn depth_of_object(map: &Map<String, Value>) -> usize {
    1 + map.values().map(depth).max().unwrap_or(0)
}
