//! The names that an expression uses. Rust resolves them; this only reports names with two
//! meanings, and avoids unused bindings.

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Expr;

use crate::tokens::{any, replace, walk};

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

/// The names that are certainly values from outside an expression. Blocks, closures, patterns and
/// macros may bind a name, and an argument may be a function, so those are left out.
pub(crate) fn values(expression: &Expr) -> Vec<&Ident> {
    match expression {
        Expr::Path(path) => path.path.get_ident().into_iter().collect(),
        Expr::Struct(made) => made.fields.iter().flat_map(|it| values(&it.expr)).collect(),
        Expr::Call(call) => {
            let arguments = call.args.iter().filter(|it| !matches!(it, Expr::Path(_)));
            arguments.flat_map(values).collect()
        }
        Expr::Binary(both) => {
            [&both.left, &both.right].into_iter().flat_map(|it| values(it)).collect()
        }
        Expr::MethodCall(call) => values(&call.receiver),
        Expr::Field(field) => values(&field.base),
        Expr::Reference(reference) => values(&reference.expr),
        Expr::Unary(of) => values(&of.expr),
        Expr::Paren(inner) => values(&inner.expr),
        _ => Vec::new(),
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

/// Names that other frameworks have for what expressions call `context` and `source`.
const MISNOMERS: [(&str, &str); 3] = [("ctx", "context"), ("cx", "context"), ("self", "source")];

/// The name that was meant by one of another framework, unless the expression gives it a meaning.
pub(crate) fn meant(
    name: &Ident,
    expression: TokenStream,
    has_context: bool,
) -> Option<&'static str> {
    let (_, meant) = MISNOMERS.iter().find(|(misnomer, _)| name == misnomer)?;
    let missing = *meant == "context" && !has_context;
    (!missing && !gives_meaning(name, expression)).then_some(meant)
}

/// True if a closure or a `let` binds the name, or it is a function.
fn gives_meaning(name: &Ident, expression: TokenStream) -> bool {
    any(expression, |spot| {
        let binds =
            matches!(spot.at(-1), Some(TokenTree::Ident(word)) if word == "let" || word == "mut");
        spot.ident() == Some(name)
            && (binds || spot.is_called() || spot.is(-1, '|') || spot.is(1, '|'))
    })
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
