use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use crate::{
    model::Graph,
    tokens::{Spot, walk},
};

/// Uses what the user's expressions import, so that it is not reported as unused.
pub(super) fn emit(graph: &Graph<'_>) -> TokenStream {
    let mut names: Vec<Ident> = Vec::new();
    for invoke in graph.declaration.states.iter().filter_map(|state| state.invoke.as_ref()) {
        for expression in invoke.expressions() {
            names.extend(names_where(expression, |spot| is_head(spot) || is_item(spot)));
        }
        names.extend(names_where(invoke.asks_if(), is_head));
        names.extend(invoke.asks_if().and_then(|path| path.get_ident()).cloned());
    }
    for transition in graph.declaration.all_transitions() {
        names.extend(names_where(&transition.unread, is_head));
        for expression in transition.expressions().into_iter().chain(&transition.after) {
            names.extend(names_where(expression, |spot| is_head(spot) || is_item(spot)));
        }
        let guard = transition.guard.as_ref().map(|guard| &guard.path);
        names.extend(names_where(guard, is_head));
        names.extend(guard.and_then(|path| path.get_ident()).cloned());
    }
    let params = &graph.declaration.generics;
    let params: Vec<&Ident> = params.type_params().map(|param| &param.ident).collect();
    let keywords = ["self", "super", "crate", "Self", "unknown"];
    let mut seen = BTreeSet::new();
    let uses = names.iter().filter(|name| {
        let text = name.to_string();
        !params.contains(name) && !keywords.contains(&text.as_str()) && seen.insert(text)
    });
    quote! {
        const _: () = {
            #(use #uses as _;)*
        };
    }
}

/// The words outside a path, or first in it, that can only be the names of items.
fn names_where(tokens: impl ToTokens, is_meant: impl Fn(Spot<'_>) -> bool) -> Vec<Ident> {
    let mut names = Vec::new();
    walk(tokens.to_token_stream(), &mut |spot| {
        let follows = [':', '.', '\''].into_iter().any(|sign| spot.is(-1, sign));
        names.extend(spot.ident().filter(|_| !follows && is_meant(spot)).cloned());
    });
    names
}

/// The first word of a path: `Duration::from_secs`.
fn is_head(spot: Spot<'_>) -> bool {
    spot.is(1, ':') && spot.is(2, ':')
}

/// A function or a constant: `pause(tries)`, `LIMIT`.
fn is_item(spot: Spot<'_>) -> bool {
    let text = spot.ident().map(ToString::to_string).unwrap_or_default();
    let is_function = spot.is_called() && text.starts_with(char::is_lowercase);
    is_function || !spot.is(1, ':') && text.len() > 1 && text == text.to_uppercase()
}
