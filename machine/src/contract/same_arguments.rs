//! The arguments of a call as this program reads them, compared with those that are stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use serde_json::{Map, Value};

use super::{Action, Effect, InvalidContract, Tool, secret, tool::tool_name};
use crate::{id::shortened_to, journal::canonical_whole};

/// The longest text of a value or of places in an error, in characters.
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
    let written = write(tool)?;
    let second = write(&read::<T>(arguments)?)?;
    if !is_same(&written, &second) && key(&written) != key(&second) {
        return Err(misfit::<T>(
            "they differ each time they are read, for example because of a changing default; store them with \
             the action",
        ));
    }
    let stored = Value::Object(arguments.clone());
    if is_same(&stored, &written) {
        return Ok(());
    }
    let none = Map::new();
    let places = secret::places(tool, written.as_object().unwrap_or(&none));
    let places = places.map_err(misfit::<T>)?;
    let secrets: BTreeSet<&str> =
        action.secrets().into_iter().chain(places.iter().map(String::as_str)).collect();
    let comparable = |mut value: Value| {
        remove_nulls(&mut value);
        secret::mask(&mut value, &secrets);
        value
    };
    let mut stored = comparable(stored);
    let mut reads = vec![comparable(written), comparable(second)];
    if Differences::between::<T>(&stored, &reads[0]).changed.is_some() {
        // A set of two is often written in the stored order.
        for written in rewritten::<T>(arguments) {
            reads.push(comparable(written?));
        }
        sort_sets(&mut stored, &mut reads.iter_mut().collect::<Vec<_>>());
    }
    Differences::between::<T>(&stored, &reads[0]).refusal::<T>(effect)
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
    path: Vec<Step<'a>>,
    /// The place of the first stored value that is read differently, the value, and what is read.
    changed: Option<(String, &'a Value, Option<&'a Value>)>,
    /// What is read, and neither stored nor listed, by its place.
    added: BTreeMap<String, &'a Value>,
}

impl<'a> Differences<'a> {
    fn between<T: Tool>(stored: &'a Value, read: &'a Value) -> Self {
        let mut found = Self { listed: T::ADDED, ..Self::default() };
        found.compare(stored, read);
        found
    }

    fn compare(&mut self, stored: &'a Value, read: &'a Value) {
        match (stored, read) {
            (Value::Object(stored), Value::Object(read)) => {
                // In the same order with all features of `serde_json`.
                let names: BTreeSet<&String> = stored.keys().chain(read.keys()).collect();
                for name in names {
                    self.path.push(Step::Member(name));
                    match (stored.get(name), read.get(name)) {
                        (Some(stored), Some(read)) => self.compare(stored, read),
                        (Some(stored), None) => self.change(stored, None),
                        (None, Some(read)) if !self.is_listed() => {
                            let place = self.place(false);
                            self.added.entry(place).or_insert(read);
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
            _ => self.change(stored, Some(read)),
        }
    }

    fn change(&mut self, stored: &'a Value, read: Option<&'a Value>) {
        if self.changed.is_none() {
            self.changed = Some((self.place(true), stored, read));
        }
    }

    /// The current place, such as `to.city` or `items[].cents`, where a number is in the brackets
    /// if `numbered`.
    fn place(&self, numbered: bool) -> String {
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Member(name) if place.is_empty() => place.push_str(name),
                Step::Member(name) => {
                    place.push('.');
                    place.push_str(name);
                }
                Step::Item(number) if numbered => {
                    // Writing to a string cannot fail.
                    let _ = write!(place, "[{number}]");
                }
                Step::Item(_) => place.push_str("[]"),
            }
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
        if let Some((place, stored, read)) = self.changed {
            return Err(InvalidContract::OtherArguments {
                tool: tool_name::<T>(),
                place: shortened_to(&place, LONGEST).into(),
                stored: shown(stored).into(),
                read: read.map_or_else(|| "nothing".into(), |read| shown(read).into()),
            });
        }
        let added = self.added;
        if added.is_empty() || !effect.is_irreversible() {
            return Ok(());
        }
        let listed = T::ADDED.iter().copied().chain(added.keys().map(String::as_str));
        let listed: Vec<_> = listed.map(|place| format!("{place:?}")).collect();
        let added = added.iter().map(|(place, value)| format!("`{place}` as {}", shown(value)));
        Err(InvalidContract::AddedArguments {
            tool: tool_name::<T>(),
            added: shortened_to(&added.collect::<Vec<_>>().join(", "), LONGEST),
            listed: shortened_to(&listed.join(", "), LONGEST),
        })
    }
}

fn shown(value: &Value) -> String {
    let mut value = value.clone();
    secret::shorten(&mut value);
    shortened_to(&canonical_whole(&value), LONGEST)
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

/// Sorts the items of a list, and of the lists in it if it is `deep`.
fn sort(value: &mut Value, deep: bool) {
    match value {
        Value::Array(items) => {
            if deep {
                for item in items.iter_mut() {
                    sort(item, deep);
                }
            }
            items.sort_by_cached_key(canonical_whole);
        }
        Value::Object(members) if deep => members.values_mut().for_each(|it| sort(it, deep)),
        _ => {}
    }
}

/// The text of a value without the order of the lists in it, and without members that are null.
fn key(value: &Value) -> String {
    let mut value = value.clone();
    remove_nulls(&mut value);
    sort(&mut value, true);
    canonical_whole(&value)
}

fn sort_by_keys(list: &mut Value) {
    if let Value::Array(items) = list {
        items.sort_by_cached_key(key);
    }
}

fn differ(values: &[&mut Value]) -> bool {
    values.windows(2).any(|pair| !is_same(pair[0], pair[1]))
}

/// Sorts the lists that differ between the reads in their order only, and those in the same places
/// of what is stored.
fn sort_sets(stored: &mut Value, reads: &mut [&mut Value]) {
    if !differ(reads) {
        return;
    }
    let count = reads.len();
    match &mut *stored {
        Value::Object(members) => {
            for (name, member) in members {
                let mut inner: Vec<_> =
                    reads.iter_mut().filter_map(|read| read.get_mut(name)).collect();
                if inner.len() == count {
                    sort_sets(member, &mut inner);
                }
            }
        }
        Value::Array(items) => {
            let length = Some(items.len());
            if reads.iter().any(|read| read.as_array().map(Vec::len) != length) {
                return;
            }
            let mut sorted: Vec<Value> = reads.iter().map(|read| (**read).clone()).collect();
            for read in &mut sorted {
                sort(read, false);
            }
            if sorted.iter().all(|read| is_same(read, &sorted[0])) {
                sort(stored, false);
                for read in reads.iter_mut() {
                    sort(read, false);
                }
                return;
            }
            // There are sets in its items. Without their order, an item is known again in each
            // read.
            let keys = reads.iter().map(|read| read.as_array().into_iter().flatten());
            let keys: Vec<Vec<String>> = keys.map(|items| items.map(key).collect()).collect();
            if keys[0].iter().collect::<BTreeSet<_>>().len() < keys[0].len() {
                // Two items could be taken for each other, so the difference stays.
                return;
            }
            if keys.iter().any(|of_read| *of_read != keys[0]) {
                sort_by_keys(stored);
                for read in reads.iter_mut() {
                    sort_by_keys(read);
                }
            }
            let Value::Array(items) = stored else { return };
            for (number, item) in items.iter_mut().enumerate() {
                let inner = reads.iter_mut().filter_map(|read| read.get_mut(number));
                sort_sets(item, &mut inner.collect::<Vec<_>>());
            }
        }
        _ => {}
    }
}
