use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::model::Graph;

/// Uses what the user's expressions import, so that it is not reported as unused.
pub(super) fn emit(graph: &Graph<'_>) -> TokenStream {
    let mut found = Found::default();
    for transition in graph.declaration.all_transitions() {
        found.heads(&transition.unread);
        let expressions = transition.expressions().into_iter().chain(&transition.after);
        for expression in expressions {
            let tokens = expression.to_token_stream();
            found.heads(&tokens);
            found.items(&tokens);
        }
        let guard = transition.guard.as_ref().map(|guard| &guard.path);
        found.heads(&guard.to_token_stream());
        if let Some(name) = guard.and_then(|path| path.get_ident()) {
            found.add(name);
        }
    }
    let params = &graph.declaration.generics;
    let params: Vec<&Ident> = params.type_params().map(|param| &param.ident).collect();
    let uses = found.names.iter().filter(|name| !params.contains(name));
    quote! {
        const _: () = {
            #(use #uses as _;)*
        };
    }
}

/// The names that can only be those of items.
#[derive(Default)]
struct Found {
    seen: BTreeSet<String>,
    names: Vec<Ident>,
}

impl Found {
    fn add(&mut self, name: &Ident) {
        let text = name.to_string();
        let keyword = ["self", "super", "crate", "Self", "unknown"].contains(&text.as_str());
        if !keyword && self.seen.insert(text) {
            self.names.push(name.clone());
        }
    }

    /// The first words of paths: `Duration::from_secs`.
    fn heads(&mut self, tokens: &TokenStream) {
        self.collect(tokens, &|tokens, place| {
            is(tokens, place + 1, ':') && is(tokens, place + 2, ':')
        });
    }

    /// Functions and constants: `pause(tries)`, `LIMIT`.
    fn items(&mut self, tokens: &TokenStream) {
        self.collect(tokens, &|tokens, place| {
            let text = tokens[place].to_string();
            let called = matches!(tokens.get(place + 1), Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Parenthesis);
            let is_function = called && text.starts_with(char::is_lowercase);
            let is_path = is(tokens, place + 1, ':');
            is_function || !is_path && text.len() > 1 && text == text.to_uppercase()
        });
    }

    /// Every word outside a path, or first in it, that is meant.
    fn collect(&mut self, tokens: &TokenStream, is_meant: &dyn Fn(&[TokenTree], usize) -> bool) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (place, token) in tokens.iter().enumerate() {
            let follows = place.checked_sub(1).is_some_and(|before| {
                is(&tokens, before, ':') || is(&tokens, before, '.') || is(&tokens, before, '\'')
            });
            match token {
                TokenTree::Group(group) => self.collect(&group.stream(), is_meant),
                TokenTree::Ident(name) if !follows && is_meant(&tokens, place) => self.add(name),
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

fn is(tokens: &[TokenTree], place: usize, sign: char) -> bool {
    matches!(tokens.get(place), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}
