//! States that shadow types of the same name in the machine's module.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::Type;

use super::Graph;
use crate::{
    errors::Errors,
    message,
    parse::{Declaration, ItemKind},
    text::bare,
    tokens::walk,
};

/// Reports each type in the declaration that means a state, where it is first mentioned.
pub(super) fn check(graph: &Graph<'_>, errors: &mut Errors) {
    let mentioned = mentioned(graph.declaration);
    for state in &graph.declaration.states {
        if let Some(name) = mentioned.get(&bare(&state.name)) {
            errors.on(name, message::state_hides(&state.name, &graph.stored()));
        }
    }
}

pub(super) fn hides(declaration: &Declaration, state: &Ident) -> bool {
    mentioned(declaration).contains_key(&bare(state))
}

/// The names of types without a path before them, each with its first mention.
fn mentioned(declaration: &Declaration) -> BTreeMap<String, Ident> {
    let mut found = BTreeMap::new();
    for ty in types(declaration) {
        walk(ty.to_token_stream(), &mut |spot| {
            let in_path = spot.is(-1, ':') && spot.is(-2, ':');
            // `Iterator<Item = u8>` names no type `Item`.
            let is_other = in_path || spot.is(-1, '\'') || spot.is(1, '=');
            if let Some(name) = spot.ident().filter(|_| !is_other) {
                found.entry(bare(name)).or_insert_with(|| name.clone());
            }
        });
    }
    found
}

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
