//! The arguments of a call as this program reads them, compared with those that are stored.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::{Map, Value};

use super::{Action, Effect, InvalidContract, Tool, secret, tool::tool_name};
use crate::{id::shortened_to, journal::canonical_whole};

/// The longest text of places in an error, in characters.
const LONGEST: usize = 500;

/// The number of times that arguments with a list are read: an unordered set of two is written
/// alike in one of two cases.
const READS: usize = 16;

pub(super) fn read<T: Tool>(stored: &Map<String, Value>) -> Result<T, InvalidContract> {
    let read = serde_json::from_value(Value::Object(stored.clone()));
    read.map_err(|error| misfit::<T>(error.to_string()))
}

/// Writes arguments, as text like the stored ones: a value has other floats of 32 bits.
fn write<T: Tool>(tool: &T) -> Result<Value, InvalidContract> {
    let written = serde_json::to_string(tool).and_then(|text| serde_json::from_str(&text));
    written.map_err(|error| misfit::<T>(error.to_string()))
}

/// Reads stored arguments and writes them again: once, or so often that a list without an order is
/// noticed.
fn rewritten<T: Tool>(
    stored: &Map<String, Value>,
) -> impl Iterator<Item = Result<Value, InvalidContract>> {
    let reads = if stored.values().any(has_list) { READS } else { 1 };
    (0..reads).map(move |_| write(&read::<T>(stored)?))
}

/// Checks that the arguments of a new call do not change when they are read and written again.
pub(super) fn check_new<T: Tool>(arguments: &Map<String, Value>) -> Result<(), InvalidContract> {
    for written in rewritten::<T>(arguments) {
        if written?.as_object() != Some(arguments) {
            return Err(misfit::<T>(
                "they change when they are read back, so the arguments that run would differ from those \
                 approved; make `Serialize` and `Deserialize` agree, and use ordered collections",
            ));
        }
    }
    Ok(())
}

/// Checks that a call of this effect, with the arguments that were read, would run with the stored
/// ones of its action.
pub(super) fn check_stored<T: Tool>(
    tool: &T,
    action: &Action,
    arguments: &Map<String, Value>,
    effect: Effect,
) -> Result<(), InvalidContract> {
    let comparable = |mut value: Value| {
        remove_nulls(&mut value);
        value
    };
    let read = comparable(write(tool)?);
    for again in rewritten::<T>(arguments) {
        if !is_same(&read, &comparable(again?)) {
            return Err(misfit::<T>(
                "they differ each time they are read; store a changing default with the action, and use \
                 ordered collections",
            ));
        }
    }
    let stored = comparable(Value::Object(arguments.clone()));
    let mut found =
        Differences { listed: T::ADDED, secrets: action.secrets(), ..Differences::default() };
    found.compare(&stored, &read);
    found.refusal::<T>(effect)
}

fn has_list(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > 1 || items.iter().any(has_list),
        Value::Object(members) => members.values().any(has_list),
        _ => false,
    }
}

pub(super) fn misfit<T: Tool>(reason: impl Into<String>) -> InvalidContract {
    InvalidContract::Arguments { tool: tool_name::<T>(), reason: reason.into() }
}

enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// The differences between stored arguments and those that are read from them.
#[derive(Default)]
struct Differences<'a> {
    /// See [`Tool::ADDED`].
    listed: &'static [&'static str],
    /// The places of secrets, as JSON pointers.
    secrets: Vec<&'a str>,
    path: Vec<Step<'a>>,
    /// The place of the first stored value that is read differently.
    changed: Option<String>,
    /// The places of what is read, and neither stored nor listed.
    added: BTreeSet<String>,
}

impl<'a> Differences<'a> {
    fn compare(&mut self, stored: &'a Value, read: &'a Value) {
        match (stored, read) {
            (Value::Object(stored), Value::Object(read)) => {
                // In the same order with all features of `serde_json`.
                let names: BTreeSet<&String> = stored.keys().chain(read.keys()).collect();
                for name in names {
                    self.path.push(Step::Member(name));
                    match (stored.get(name), read.get(name)) {
                        (Some(stored), Some(read)) => self.compare(stored, read),
                        (Some(_), None) => self.change(),
                        (None, Some(_)) if !self.is_listed() => {
                            self.added.insert(self.place(false));
                        }
                        (None, _) => {}
                    }
                    self.path.pop();
                }
            }
            (Value::Array(stored), Value::Array(read)) if stored.len() == read.len() => {
                for (number, (stored, read)) in stored.iter().zip(read).enumerate() {
                    self.path.push(Step::Item(number));
                    self.compare(stored, read);
                    self.path.pop();
                }
            }
            _ if is_same(stored, read) => {}
            _ => self.change(),
        }
    }

    fn change(&mut self) {
        if self.changed.is_none() {
            self.changed = Some(self.place(true));
        }
    }

    /// The current place, such as `to.city` or `items[].cents`, where a number is in the brackets
    /// if `numbered`. What is in a secret has the place of the secret.
    fn place(&self, numbered: bool) -> String {
        let (mut place, mut pointer) = (String::new(), String::new());
        for step in &self.path {
            if self.secrets.contains(&pointer.as_str()) {
                break;
            }
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Member(name) => {
                    pointer.push_str(&secret::pointer(name));
                    let dot = if place.is_empty() { "" } else { "." };
                    write!(place, "{dot}{name}")
                }
                Step::Item(number) => {
                    let _ = write!(pointer, "/{number}");
                    if numbered { write!(place, "[{number}]") } else { place.write_str("[]") }
                }
            };
        }
        place
    }

    fn is_listed(&self) -> bool {
        self.listed.iter().any(|listed| self.leads_here(listed))
    }

    /// Returns `true` if a path such as `to.city`, `items[].gift` or `rates{}.unit` leads to the
    /// current place.
    fn leads_here(&self, path: &str) -> bool {
        let mut rest = path;
        for (depth, step) in self.path.iter().enumerate() {
            let next = match step {
                Step::Item(_) => rest.strip_prefix("[]"),
                Step::Member(name) => rest.strip_prefix("{}").or_else(|| {
                    let named = if depth == 0 { rest } else { rest.strip_prefix('.')? };
                    named.strip_prefix(*name)
                }),
            };
            let Some(next) = next else { return false };
            rest = next;
        }
        rest.is_empty()
    }

    fn refusal<T: Tool>(self, effect: Effect) -> Result<(), InvalidContract> {
        if let Some(place) = self.changed {
            let place = shortened_to(&place, LONGEST);
            return Err(InvalidContract::OtherArguments { tool: tool_name::<T>(), place });
        }
        let added = self.added;
        if added.is_empty() || !effect.is_irreversible() {
            return Ok(());
        }
        let listed = T::ADDED.iter().copied().chain(added.iter().map(String::as_str));
        let listed: Vec<_> = listed.map(|place| format!("{place:?}")).collect();
        let added: Vec<_> = added.iter().map(|place| format!("`{place}`")).collect();
        Err(InvalidContract::AddedArguments {
            tool: tool_name::<T>(),
            added: shortened_to(&added.join(", "), LONGEST),
            listed: shortened_to(&listed.join(", "), LONGEST),
        })
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    canonical_whole(one) == canonical_whole(other)
}

/// An absent member is like one that is null.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
