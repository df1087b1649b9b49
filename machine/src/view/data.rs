//! The data of each state of a history. A journal has what actors brought, and no states, so the
//! data are folded from it as far as it tells.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Audience, Fields, marks::Marks};
use crate::{
    definition::{self, Definition, StateDef, before},
    journal::{Entry, Fact},
    stored::Newest,
};

/// The data of a machine after an entry of its journal.
#[derive(Debug, Default)]
pub(super) struct StateData<'a> {
    /// The definition that the newest entry was written under, and the state, as an index into it.
    at: Option<(&'a Definition, usize)>,
    /// The fields whose values the journal tells, by their names in that definition.
    known: BTreeMap<&'a str, KnownValue>,
}

#[derive(Debug)]
struct KnownValue {
    value: Value,
    /// The audience of the item that set it.
    audience: definition::Audience,
}

/// The fields that an audience may see, and the names of those whose values the journal does not
/// tell.
pub(super) type ShownFields<A> = (Fields<A>, Vec<String>);

impl<'a> StateData<'a> {
    pub(super) fn add(
        &mut self,
        entry: &Entry,
        written: Option<&'a Definition>,
        marks: Option<Marks<'_>>,
    ) {
        let Some(written) = written else {
            *self = Self::default();
            return;
        };
        self.read_as(written);
        match &entry.fact {
            Fact::Created { state, .. } => {
                // A journal does not contain the data that the machine was created with.
                self.known.clear();
                self.at = written.state(state).map(|state| (written, state));
            }
            Fact::Moved { from, to, trigger, payload, .. } => {
                let step = (&**from, &**trigger, &**to);
                self.take(step, written, |name| {
                    // An item that is null is not written.
                    let value = payload.get(name).cloned().unwrap_or_default();
                    let audience = marks.map(|it| it.of_item(step, Some(written), name));
                    KnownValue { value, audience: audience.unwrap_or_default() }
                });
            }
            Fact::Fenced { .. } | Fact::Recorded { .. } => {}
        }
    }

    fn take(
        &mut self,
        (from, trigger, to): (&str, &str, &str),
        written: &'a Definition,
        brought: impl Fn(&str) -> KnownValue,
    ) {
        let mut before = std::mem::take(&mut self.known);
        let (source, target) = (written.state(from), written.state(to));
        let is_there = self.at.is_some_and(|(_, state)| Some(state) == source);
        self.at = target.map(|target| (written, target));
        let (Some(source), Some(target)) = (source, target) else { return };
        let Some(edge) = written.edge(source, trigger, target).filter(|_| is_there) else { return };
        for field in &*written.states[target].fields {
            let name = &*field.name;
            let known = if edge.computed.iter().any(|computed| computed == name) {
                None
            } else if edge.payload.iter().any(|item| item.name == name) {
                Some(brought(name))
            } else {
                before.remove(name)
            };
            self.known.extend(known.map(|known| (name, known)));
        }
    }

    /// Takes the data over into the definition that the next entry was written under, as a program
    /// that loads the machine does.
    fn read_as(&mut self, newer: &'a Definition) {
        let Some((older, state)) = self.at else { return };
        if older.fingerprint == newer.fingerprint {
            return;
        }
        let mut before_it = std::mem::take(&mut self.known);
        self.at = older.successor(state, newer).map(|successor| (newer, successor));
        let Some((_, successor)) = self.at else { return };
        // The functions that upgrade data are the program's.
        if older.version != newer.version {
            return;
        }
        for field in &*newer.states[successor].fields {
            let old = before(field, &older.states[state].fields);
            let known = old
                .filter(|old| old.ty == field.ty)
                .and_then(|old| before_it.remove(&*old.name))
                .map(|known| (&*field.name, known));
            self.known.extend(known);
        }
    }

    pub(super) fn shown<A: Audience>(&self, marks: Option<Marks<'_>>) -> ShownFields<A> {
        let (Some((definition, state)), Some(marks)) = (self.at, marks) else {
            return (Fields::none(), Vec::new());
        };
        let state = &definition.states[state];
        let mark = |name: &str| self.mark(marks, state, name);
        let values = state.fields.iter().filter_map(|field| {
            let name = &*field.name;
            // Only visible data is copied. What is hidden is counted, also if it is unknown.
            let value = match self.known.get(name) {
                _ if mark(name) < A::LEVEL => Value::Null,
                known => known?.value.clone(),
            };
            Some((name.to_owned(), value))
        });
        let values: Map<String, Value> = values.collect();
        let unknown = state.fields.iter().map(|field| &*field.name).filter(|name| {
            !self.known.contains_key(name) && marks.of_field(state, name) >= A::LEVEL
        });
        let unknown = unknown.map(str::to_owned).collect();
        (Fields::of(Value::Object(values), mark), unknown)
    }

    /// The fields of the newest state that an audience may see; its data are stored.
    pub(super) fn newest<A: Audience>(
        &self,
        newest: &Newest,
        marks: Option<Marks<'_>>,
    ) -> ShownFields<A> {
        let Some(marks) = marks else { return (Fields::none(), Vec::new()) };
        let state = &newest.definition.states[newest.state];
        let fields = Fields::of(newest.data.clone(), |name| self.mark(marks, state, name));
        (fields, Vec::new())
    }

    /// The audience of a field: the stricter of its mark and the mark of the item that set it.
    fn mark(&self, marks: Marks<'_>, state: &StateDef, name: &str) -> definition::Audience {
        let field = marks.of_field(state, name);
        self.known.get(name).map_or(field, |known| known.audience.min(field))
    }
}
