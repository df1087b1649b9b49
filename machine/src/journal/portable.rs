//! Portable JSON: every program reads it alike, with any features of `serde_json`.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The names by which `serde_json` passes numbers and raw text through an object. With
/// `arbitrary_precision` or `raw_value` such an object is read as what it contains.
const PRIVATE: &str = "$serde_json::private::";

/// Text or a value that another program reads differently, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unportable {
    #[error(
        "the number {0} does not fit a 64-bit float, so other programs cannot read it; pass it \
         as a string"
    )]
    Number(String),
    #[error(
        "the member name `{0}` is reserved by `serde_json`, so other programs would read a different \
         value; rename it"
    )]
    Name(String),
}

pub(crate) fn check_object(map: &Map<String, Value>) -> Result<(), Unportable> {
    map.iter().try_for_each(|(name, value)| check_name(name).and_then(|()| check_value(value)))
}

pub(super) fn check_value(value: &Value) -> Result<(), Unportable> {
    match value {
        Value::Object(map) => check_object(map),
        Value::Array(items) => items.iter().try_for_each(check_value),
        // With `arbitrary_precision`, a number is any text that looks like one.
        Value::Number(number) if number.as_f64().is_none_or(f64::is_infinite) => {
            Err(Unportable::Number(number.to_string()))
        }
        _ => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Unportable> {
    if name.starts_with(PRIVATE) {
        return Err(Unportable::Name(name.to_owned()));
    }
    Ok(())
}

/// Checks JSON text before it is read: with some features of `serde_json` the parsed value no
/// longer shows the names of its members.
pub(crate) fn check_text(text: &str) -> Result<(), Unportable> {
    let mut rest = text;
    while let Some(at) = rest.find(|one: char| one == '"' || one == '-' || one.is_ascii_digit()) {
        rest = &rest[at..];
        if rest.starts_with('"') {
            let end = end_of_string(rest);
            let (string, after) = rest.split_at(end);
            if after.trim_start().starts_with(':')
                && let Ok(name) = serde_json::from_str::<String>(string)
            {
                check_name(&name)?;
            }
            rest = after;
        } else {
            let is_part =
                |one: char| one.is_ascii_digit() || matches!(one, '-' | '+' | '.' | 'e' | 'E');
            let end = rest.find(|one| !is_part(one)).unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            if number.parse::<f64>().is_ok_and(f64::is_infinite) {
                return Err(Unportable::Number(number.to_owned()));
            }
            rest = after;
        }
    }
    Ok(())
}

/// Checks text that this program wrote, if it can write numbers that others cannot read.
pub(crate) fn check_written(text: &str) -> Result<(), Unportable> {
    if *WRITES_ANY_NUMBER { check_text(text) } else { Ok(()) }
}

pub(super) static WRITES_ANY_NUMBER: LazyLock<bool> =
    LazyLock::new(|| serde_json::from_str::<serde_json::Number>("1e400").is_ok());

/// Where a string literal at the start of the text ends.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{Unportable, check_text};

    #[test]
    fn names_and_numbers_are_found_in_text() {
        let name = |name: &str| Err(Unportable::Name(name.to_owned()));
        let number = |number: &str| Err(Unportable::Number(number.to_owned()));
        for (text, expected) in [
            (r#"{"a":1,"b":[-2.5e3,"$serde_json::private::Number"]}"#, Ok(())),
            (r#"{"a\"":"1e400","b":"\\","c":1e308}"#, Ok(())),
            (
                r#"{"a":{"$serde_json::private::Number" :"1"}}"#,
                name("$serde_json::private::Number"),
            ),
            (r#"{"\u0024serde_json::private::X":1}"#, name("$serde_json::private::X")),
            (r#"{"a":"\\","b":[1,-1e400]}"#, number("-1e400")),
            ("1e999", number("1e999")),
            ("\"unfinished", Ok(())),
            ("", Ok(())),
        ] {
            assert_eq!(check_text(text), expected, "{text}");
        }
    }
}
