//! The names that an expression uses. Rust resolves them; this only reports names with two
//! meanings, and avoids unused bindings.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Expr;

use crate::tokens::{replace, walk};

/// The names that an expression uses by themselves: not as a field, a method or part of a path.
pub(crate) fn names(expression: TokenStream) -> Vec<Ident> {
    let mut names = Vec::new();
    walk(expression, &mut |spot| match spot.at(0) {
        Some(TokenTree::Literal(literal)) => collect_captured(literal, &mut names),
        Some(TokenTree::Ident(ident)) if spot.is_alone() => names.push(ident.clone()),
        _ => {}
    });
    names
}

/// A name that means the variable which is bound there: a `macro_rules` macro may have written one
/// of them, and its caller the other.
pub(crate) fn resolved_at(name: &Ident, binding: Span) -> Ident {
    let mut name = name.clone();
    name.set_span(name.span().resolved_at(binding));
    name
}

/// The tokens, in which these names mean the variables that are bound.
pub(crate) fn as_bound(tokens: TokenStream, names: &[&Ident]) -> TokenStream {
    let find = |used: &Ident| names.iter().find(|name| ***name == *used).map(|name| name.span());
    replace(tokens, &|spot| match spot.at(0)? {
        TokenTree::Ident(used) if spot.is_alone() => Some(resolved_at(used, find(used)?).into()),
        TokenTree::Literal(literal) => {
            let (mut captured, mut literal) = (Vec::new(), literal.clone());
            collect_captured(&literal, &mut captured);
            literal.set_span(literal.span().resolved_at(captured.iter().find_map(find)?));
            Some(literal.into())
        }
        _ => None,
    })
}

/// The names that a format string captures, as in `"{holder} is done"`.
fn collect_captured(literal: &Literal, names: &mut Vec<Ident>) {
    let text = literal.to_string();
    if !text.starts_with(['"', 'r']) {
        return;
    }
    let mut rest = text.as_str();
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(escaped) = rest.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let inside = &rest[..rest.find('}').unwrap_or(rest.len())];
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        // `{:>width$.precision$}` captures two names.
        let counts = format.split('$').rev().skip(1).map(|before| {
            let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_');
            &before[start.map_or(0, |start| start + 1)..]
        });
        for name in std::iter::once(name).chain(counts) {
            if let Ok(name) = syn::parse_str::<Ident>(name) {
                names.push(Ident::new(&name.to_string(), literal.span()));
            }
        }
    }
}

/// The uses of `source` in an expression: the fields that it names, and a place where it is used in
/// another way.
pub(crate) fn uses_of_source(expression: TokenStream) -> (Vec<Ident>, Option<Ident>) {
    let (mut fields, mut whole) = (Vec::new(), Vec::new());
    walk(expression, &mut |spot| match spot.at(0) {
        Some(TokenTree::Literal(literal)) => collect_captured(literal, &mut whole),
        Some(TokenTree::Ident(ident)) if ident == "source" && spot.is_alone() => match spot.at(2) {
            Some(TokenTree::Ident(field))
                if spot.is(1, '.') && !matches!(spot.at(3), Some(TokenTree::Group(_))) =>
            {
                fields.push(field.clone());
            }
            _ => whole.push(ident.clone()),
        },
        _ => {}
    });
    (fields, whole.into_iter().find(|name| name == "source"))
}

/// The names that a condition binds for its branch: `if let Some(next) = queue`.
pub(crate) fn bound_by(condition: &Expr) -> Vec<Ident> {
    match condition {
        Expr::Let(condition) => names(condition.pat.to_token_stream()),
        Expr::Binary(both) => {
            let mut bound = bound_by(&both.left);
            bound.extend(bound_by(&both.right));
            bound
        }
        _ => Vec::new(),
    }
}
