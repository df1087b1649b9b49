use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

/// JSON text with sorted keys, without whitespace, and with numbers in one form.
///
/// The text does not depend on the features of `serde_json` that other crates of the program
/// enable: with `preserve_order` maps are not sorted, and with `arbitrary_precision` numbers keep
/// the text that they were read from.
pub(crate) fn canonical(value: &Value) -> String {
    text_of(&Canonical(value, plain_number))
}

pub(crate) fn canonical_object(map: &Map<String, Value>) -> String {
    text_of(&CanonicalObject(map, plain_number))
}

/// Like [`canonical`], with whole numbers written as integers: models write both `1` and `1.0` for
/// the same value.
pub(crate) fn canonical_whole(value: &Value) -> String {
    text_of(&Canonical(value, whole_number))
}

pub(crate) fn canonical_whole_object(map: &Map<String, Value>) -> String {
    text_of(&CanonicalObject(map, whole_number))
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("names are texts, and numbers are finite")
}

/// Converts a number to the form in which it is written.
type Form = fn(&Number) -> Number;

struct Canonical<'a>(&'a Value, Form);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value, form) = *self;
        match value {
            Value::Object(map) => CanonicalObject(map, form).serialize(serializer),
            Value::Array(items) => {
                serializer.collect_seq(items.iter().map(|item| Canonical(item, form)))
            }
            Value::Number(number) => form(number).serialize(serializer),
            other => other.serialize(serializer),
        }
    }
}

struct CanonicalObject<'a>(&'a Map<String, Value>, Form);

impl Serialize for CanonicalObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(map, form) = *self;
        let mut members: Vec<_> = map.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        let members = members.into_iter().map(|(name, value)| (name, Canonical(value, form)));
        serializer.collect_map(members)
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

/// Gives every number its plain form.
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

pub(crate) fn depth_of_object(map: &Map<String, Value>) -> usize {
    1 + map.values().map(depth).max().unwrap_or(0)
}
