//! Views find a field by its name in the stored data. Where serde gives it another one, a mark could apply
//! to the data of another field.

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
    for state in &graph.states {
        let written = state.written;
        if written.fields.iter().all(|field| field.audience == Audience::Internal) {
            continue;
        }
        let on_state = serde::options(&written.others, &ON_STATES);
        let on_fields =
            serde::options(written.fields.iter().flat_map(|field| &field.attrs), &ON_FIELDS);
        for option in on_state.into_iter().chain(on_fields) {
            errors.at(option.span(), message::marks_go_by_names(&option, state.name()));
        }
    }
}
