//! The names that an expression about a state can use.

use proc_macro2::{Ident, TokenStream};

use super::names::Names;
use crate::model::{State, as_bound, names_in};

/// Binds the names that an expression uses: of `context`, if there is one, and of `state`, both
/// references. Returns the bindings, and the expression, in which the names mean them.
///
/// Fields are bound by value, as in a computed item; cloned, because the state keeps them.
pub(super) fn of_state(
    names: &Names<'_>,
    state: &State<'_>,
    expression: TokenStream,
) -> (TokenStream, TokenStream) {
    let used = names_in(expression.clone());
    let use_of = |name: &str| used.iter().find(|used| *used == name);
    let fields = state.written.field_names().into_iter();
    let fields: Vec<&Ident> =
        fields.filter(|field| *field != "source" && used.contains(field)).collect();
    let copies = fields.iter().map(|&field| {
        // A field that cannot be cloned is reported where it is used; `source.field` borrows it.
        let used = used.iter().find(|used| *used == field).unwrap_or(field);
        let value = hygienic_at!(used.span() => ::core::clone::Clone::clone(&state.#used));
        hygienic!(let #field = #value;)
    });
    let source = use_of("source");
    let context = use_of("context").filter(|_| names.has_context());
    let status = use_of("status").filter(|status| state.written.field(status).is_none());
    let bound = fields.iter().copied().chain(source).chain(context).chain(status);
    let expression = as_bound(expression, &bound.collect::<Vec<_>>());
    let source = source.map(|source| hygienic!(let #source = state;));
    let context = context.map(|given| hygienic!(let #given = context;));
    let status = status.map(|status| {
        let name = state.name();
        hygienic!(let #status = Status::#name;)
    });
    (hygienic!(#context #source #status #(#copies)*), expression)
}
