//! Stored arguments compared with those that are read, written without the comparison of the
//! library.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value, json};

/// The places of differences.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Of stored values that are read differently, such as `to.city` or `items[0].cents`; the first
    /// one first.
    pub(crate) changed: Vec<String>,
    /// Of values that are read and not stored, such as `items[].gift`.
    pub(crate) added: BTreeSet<String>,
}

impl Differences {
    /// In lists of text at the places `sets`, the order means nothing.
    pub(crate) fn between(stored: &Value, read: &Value, sets: &[&str]) -> Self {
        let mut found = Self::default();
        found.walk((stored, read), ("", ""), sets);
        found
    }

    /// The beginning of the refusal of a call of `bank.pay` with these differences; `None` if it
    /// runs.
    pub(crate) fn refusal(&self, is_irreversible: bool, listed: &[&str]) -> Option<String> {
        if let Some(place) = self.changed.first() {
            return Some(format!("`{place}` of `bank.pay` is stored as "));
        }
        let mut added = self.added.iter().filter(|place| !listed.contains(&place.as_str()));
        let place = added.next().filter(|_| is_irreversible)?;
        Some(format!("this program adds `{place}` as "))
    }

    /// A place has a number in each pair of brackets, and none in its general form.
    fn walk(
        &mut self,
        (stored, read): (&Value, &Value),
        (place, general): (&str, &str),
        sets: &[&str],
    ) {
        match (stored, read) {
            (Value::Object(stored), Value::Object(read)) => {
                let names: BTreeSet<&String> = stored.keys().chain(read.keys()).collect();
                for name in names {
                    let (place, general) = (member(place, name), member(general, name));
                    match (present(stored, name), present(read, name)) {
                        (None, None) => {}
                        (None, Some(_)) => {
                            self.added.insert(general);
                        }
                        (Some(_), None) => self.changed.push(place),
                        (Some(stored), Some(read)) => {
                            self.walk((stored, read), (&place, &general), sets);
                        }
                    }
                }
            }
            (Value::Array(stored), Value::Array(read)) if stored.len() == read.len() => {
                let sorted = |items: &[Value]| {
                    let mut items = items.to_vec();
                    if sets.contains(&general) {
                        items.sort_by_key(Value::to_string);
                    }
                    items
                };
                let pairs = sorted(stored).into_iter().zip(sorted(read));
                for (number, (stored, read)) in pairs.enumerate() {
                    let (place, general) = (format!("{place}[{number}]"), format!("{general}[]"));
                    self.walk((&stored, &read), (&place, &general), sets);
                }
            }
            (Value::Number(stored), Value::Number(read)) if digits(stored) == digits(read) => {}
            _ if stored == read => {}
            _ => self.changed.push(place.to_owned()),
        }
    }
}

fn member(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// A member that is null is like one that is absent.
fn present<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(name).filter(|value| !value.is_null())
}

/// The digits of a number: the same for numbers of the same value.
fn digits(number: &Number) -> String {
    let whole = number.as_u64().map(|it| it.to_string());
    let whole = whole.or_else(|| number.as_i64().map(|it| it.to_string()));
    whole.unwrap_or_else(|| {
        let float = number.as_f64().unwrap();
        if float == 0.0 {
            "0".to_owned()
        } else if float.fract() == 0.0 {
            format!("{float:.0}")
        } else {
            float.to_string()
        }
    })
}

/// It sees what a comparison might ignore.
#[test]
fn the_oracle_sees_each_kind_of_difference() {
    let arguments = || {
        json!({
            "cents": 500,
            "lines": [{ "item": "tea", "count": 2 }],
            "tags": ["a", "b"],
            "note": null,
        })
    };
    let with = |pointer: &str, value: Value| {
        let mut changed = arguments();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed
    };
    let read = |read: &Value, sets: &[&str]| Differences::between(&arguments(), read, sets);
    for same in [
        arguments(),
        with("/cents", json!(500.0)),
        with("/lines/0/count", json!(2.0)),
        with("/lines/0", json!({ "count": 2, "item": "tea", "gift": null })),
    ] {
        assert_eq!(read(&same, &[]), Differences::default(), "{same}");
    }
    for (other, place) in [
        (with("/cents", json!(501)), "cents"),
        (with("/cents", json!(500.5)), "cents"),
        (with("/cents", json!("500")), "cents"),
        (with("/cents", json!(null)), "cents"),
        (with("/lines/0/count", json!(3)), "lines[0].count"),
        (with("/lines/0", json!({ "item": "tea" })), "lines[0].count"),
        (with("/lines", json!([])), "lines"),
        (with("/tags", json!(["b", "a"])), "tags[0]"),
    ] {
        let found = read(&other, &[]);
        assert_eq!(found.changed.first().map(String::as_str), Some(place), "{other}");
        assert!(found.refusal(false, &[]).is_some(), "{other}");
    }
    let reordered = read(&with("/tags", json!(["b", "a"])), &["tags"]);
    assert_eq!(reordered, Differences::default());
    let added = read(&with("/lines/0", json!({ "item": "tea", "count": 2, "gift": 1 })), &[]);
    assert_eq!(added.added, BTreeSet::from(["lines[].gift".to_owned()]));
    assert_eq!(added.refusal(false, &[]), None);
    assert_eq!(added.refusal(true, &["lines[].gift"]), None);
    let refusal = added.refusal(true, &["gift"]);
    assert_eq!(refusal.as_deref(), Some("this program adds `lines[].gift` as "));
}
