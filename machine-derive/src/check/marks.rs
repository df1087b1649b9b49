//! Options of serde that contradict our attributes. Views find a field by its name in the stored
//! data: where serde gives it another one, a mark could apply to the data of another field.

use std::{collections::BTreeSet, rc::Rc};

use crate::{
    errors::Errors,
    message,
    model::Graph,
    parse::{Audience, serde},
};

/// Options of serde that change the names in the data of a state.
const ON_STATES: [&str; 5] = ["rename_all", "into", "remote", "tag", "transparent"];

/// Options of serde that change the names of a field, or merge the names of another type into them.
const ON_FIELDS: [&str; 2] = ["rename", "flatten"];

/// Options of serde that keep a field out of the stored data, or out of what is read.
const SKIPS: [&str; 3] = ["skip", "skip_serializing", "skip_deserializing"];

/// A durable machine stores its fields, except those with a mark that says otherwise.
pub(super) fn fields_are_stored(graph: &Graph<'_>, errors: &mut Errors) {
    if graph.declaration.options.durable.is_none() {
        return;
    }
    // A mistake in a shared field is reported once.
    let mut seen = BTreeSet::new();
    let fields = graph.states.iter().flat_map(|state| &state.written.fields);
    for field in fields.filter(|field| !field.lossy && seen.insert(Rc::as_ptr(field))) {
        if let Some(option) = serde::options(&field.attrs, &SKIPS).first() {
            errors.on(option, message::field_is_skipped(option, &field.name));
        }
    }
}

/// Data of a state with marks must have the names of its fields.
pub(super) fn go_by_names(graph: &Graph<'_>, errors: &mut Errors) {
    // A mistake in a shared field is reported once.
    let mut seen = BTreeSet::new();
    for state in &graph.states {
        let written = state.written;
        if written.fields.iter().all(|field| field.audience == Audience::Internal) {
            continue;
        }
        let on_state = serde::options(&written.others, &ON_STATES);
        let fields = written.fields.iter().filter(|field| seen.insert(Rc::as_ptr(field)));
        let on_fields = serde::options(fields.flat_map(|field| &field.attrs), &ON_FIELDS);
        for option in on_state.into_iter().chain(on_fields) {
            errors.on(&option, message::marks_go_by_names(&option, state.name()));
        }
    }
}
