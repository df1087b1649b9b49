//! Views find a field by its name in the stored data. Where serde gives it another one, a mark could apply
//! to the data of another field.

use std::rc::Rc;

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

/// Data of a state with marks must have the names of its fields.
pub(super) fn go_by_names(graph: &Graph<'_>, errors: &mut Errors) {
    // A mistake in a shared field is reported once.
    let mut seen = Vec::new();
    for state in &graph.states {
        let written = state.written;
        if written.fields.iter().all(|field| field.audience == Audience::Internal) {
            continue;
        }
        let on_state = serde::options(&written.others, &ON_STATES);
        let fields = written.fields.iter().filter(|field| {
            let is_new = !seen.contains(&Rc::as_ptr(field));
            seen.push(Rc::as_ptr(field));
            is_new
        });
        let on_fields = serde::options(fields.flat_map(|field| &field.attrs), &ON_FIELDS);
        for option in on_state.into_iter().chain(on_fields) {
            errors.on(&option, message::marks_go_by_names(&option, state.name()));
        }
    }
}
