//! The names that an expression about a state can use.

use proc_macro2::{Ident, TokenStream};

use super::names::Names;
use crate::model::{State, resolved_at};

/// Binds the names that are used: of `context`, if there is one, and of `state`, both references.
///
/// Fields are bound by value, as in a computed item; cloned, because the state keeps them.
pub(super) fn of_state(names: &Names<'_>, state: &State<'_>, used: &[Ident]) -> TokenStream {
    let use_of = |name: &str| used.iter().find(|used| *used == name);
    let fields = state.written.field_names().into_iter();
    let fields = fields.filter(|field| *field != "source" && used.contains(field)).map(|field| {
        // A field that cannot be cloned is reported where it is used; `source.field` borrows it.
        let used = used.iter().find(|used| *used == field).unwrap_or(field);
        let value = hygienic_at!(used.span() => ::core::clone::Clone::clone(&state.#used));
        let bound = resolved_at(field, used.span());
        hygienic!(let #bound = #value;)
    });
    let source = use_of("source").map(|source| hygienic!(let #source = state;));
    let given = use_of("context").filter(|_| names.has_context());
    let given = given.map(|given| hygienic!(let #given = context;));
    let status = use_of("status").filter(|status| state.written.field(status).is_none());
    let status = status.map(|status| {
        let name = state.name();
        hygienic!(let #status = Status::#name;)
    });
    hygienic!(#given #source #status #(#fields)*)
}
