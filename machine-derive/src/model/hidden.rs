//! States that hide a type of the same name: the machine's module has both.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::Type;

use super::Graph;
use crate::{
    errors::Errors,
    message,
    parse::{Declaration, ItemKind, State},
    text::bare,
    tokens::walk,
};

/// Reports each state that has the name of a type in the declaration, at the type.
pub(super) fn check(graph: &Graph<'_>, errors: &mut Errors) {
    for state in &graph.declaration.states {
        if let Some(ty) = find_hidden(graph.declaration, state) {
            errors.on(ty, message::state_hides_a_type(&state.name, &graph.stored()));
        }
    }
}

/// True if this state shadows a type in the declaration.
pub(crate) fn hides_a_type(declaration: &Declaration, state: &State) -> bool {
    find_hidden(declaration, state).is_some()
}

fn find_hidden(declaration: &Declaration, state: &State) -> Option<Ident> {
    let name = bare(&state.name);
    types(declaration).into_iter().find_map(|ty| find_bare(ty.to_token_stream(), &name))
}

/// The types that are written in the declaration.
fn types(declaration: &Declaration) -> Vec<&Type> {
    let fields = declaration.states.iter().flat_map(|state| &state.fields);
    let mut types: Vec<&Type> = fields.map(|field| &field.ty).collect();
    types.extend(&declaration.options.context);
    let invoked = declaration.states.iter().filter_map(|state| state.invoke.as_ref());
    types.extend(invoked.filter_map(|invoke| invoke.tool.as_ref()));
    for transition in declaration.transitions() {
        types.extend(transition.guard.as_ref().map(|guard| &guard.error));
        types.extend(transition.payload.iter().filter_map(|item| match &item.kind {
            ItemKind::Noted(ty) => Some(ty),
            ItemKind::Field | ItemKind::Computed(_) => None,
        }));
    }
    types
}

/// The first mention of the name without a path before it.
fn find_bare(tokens: TokenStream, name: &str) -> Option<Ident> {
    let mut found = None;
    walk(tokens, &mut |spot| {
        // `Iterator<Item = u8>` names no type `Item`.
        let is_type = !spot.is(-1, ':') && !spot.is(1, '=');
        let mention = spot.ident().filter(|ident| is_type && bare(ident) == name);
        found = found.take().or_else(|| mention.cloned());
    });
    found
}
