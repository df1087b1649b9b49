//! Stored arguments compared with those that are read, written without the comparison of the
//! library.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

/// The places of differences.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Of stored values that are read differently, such as `to.city` or `items[0].cents`; the first
    /// one first.
    pub changed: Vec<String>,
    /// Of values that are read and not stored, such as `items[].gift`.
    pub added: BTreeSet<String>,
}

impl Differences {
    /// The differences of two values.
    #[must_use]
    pub fn between(stored: &Value, read: &Value) -> Self {
        let mut found = Self::default();
        found.walk((stored, read), ("", ""));
        found
    }

    /// The beginning of the refusal of a call of `bank.pay` with these differences; `None` if it
    /// runs.
    #[must_use]
    pub fn refusal(&self, is_irreversible: bool, listed: &[&str]) -> Option<String> {
        if let Some(place) = self.changed.first() {
            return Some(format!("`{place}` of `bank.pay` is stored with another value"));
        }
        let mut added = self.added.iter().filter(|place| !listed.contains(&place.as_str()));
        let place = added.next().filter(|_| is_irreversible)?;
        Some(format!("this program adds `{place}`"))
    }

    /// A place has a number in each pair of brackets, and none in its general form.
    fn walk(&mut self, (stored, read): (&Value, &Value), (place, general): (&str, &str)) {
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
                            self.walk((stored, read), (&place, &general));
                        }
                    }
                }
            }
            (Value::Array(stored), Value::Array(read)) if stored.len() == read.len() => {
                for (number, (stored, read)) in stored.iter().zip(read).enumerate() {
                    let (place, general) = (format!("{place}[{number}]"), format!("{general}[]"));
                    self.walk((stored, read), (&place, &general));
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
