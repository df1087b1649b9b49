//! Which names an expression uses. Rust resolves them; this only looks, so that a name with two
//! meanings is reported and what nobody uses is not bound.

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Expr;

/// The names that an expression uses by themselves: not as a field, a method or part of a path.
pub(crate) fn names(expression: TokenStream) -> Vec<Ident> {
    let mut names = Vec::new();
    collect(expression, &mut names);
    names
}

fn collect(tokens: TokenStream, names: &mut Vec<Ident>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => collect(group.stream(), names),
            TokenTree::Literal(literal) => captured(literal, names),
            TokenTree::Ident(ident) if is_alone(&tokens, place) => names.push(ident.clone()),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Whether the word at `place` is a name of its own.
fn is_alone(tokens: &[TokenTree], place: usize) -> bool {
    let is = |place: Option<usize>, sign: char| {
        let token = place.and_then(|place| tokens.get(place));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
    };
    let before = |steps: usize| place.checked_sub(steps);
    let after = |steps: usize| place.checked_add(steps);
    let member = is(before(1), '.') && !is(before(2), '.');
    let in_path =
        is(before(1), ':') && is(before(2), ':') || is(after(1), ':') && is(after(2), ':');
    let key = is(after(1), ':') && !is(after(2), ':');
    let called = tokens.get(place + 2);
    let macro_name = is(after(1), '!') && matches!(called, Some(TokenTree::Group(_)));
    !(member || in_path || key || macro_name || is(before(1), '\''))
}

/// The names that a format string captures, as in `"{holder} is done"`.
fn captured(literal: &Literal, names: &mut Vec<Ident>) {
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

/// How an expression uses `source`: the fields that it names, and a place where it is used in
/// another way.
pub(crate) fn uses_of_source(expression: TokenStream) -> (Vec<Ident>, Option<Ident>) {
    let (mut fields, mut whole) = (Vec::new(), None);
    look_for_source(expression, &mut fields, &mut whole);
    (fields, whole)
}

fn look_for_source(tokens: TokenStream, fields: &mut Vec<Ident>, whole: &mut Option<Ident>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => look_for_source(group.stream(), fields, whole),
            TokenTree::Literal(literal) => {
                let mut names = Vec::new();
                captured(literal, &mut names);
                let source = names.into_iter().find(|name| name == "source");
                *whole = whole.take().or(source);
            }
            TokenTree::Ident(ident) if ident == "source" && is_alone(&tokens, place) => {
                let called = matches!(tokens.get(place + 3), Some(TokenTree::Group(_)));
                match (tokens.get(place + 1), tokens.get(place + 2)) {
                    (Some(TokenTree::Punct(dot)), Some(TokenTree::Ident(field)))
                        if dot.as_char() == '.' && !called =>
                    {
                        fields.push(field.clone());
                    }
                    _ => *whole = whole.take().or_else(|| Some(ident.clone())),
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
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

/// Whether a closure or a `let` binds the name, or it is a function.
fn gives_meaning(name: &Ident, expression: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = expression.into_iter().collect();
    let bar = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == '|');
    tokens.iter().enumerate().any(|(place, token)| match token {
        TokenTree::Group(group) => gives_meaning(name, group.stream()),
        TokenTree::Ident(ident) if ident == name => {
            let before = place.checked_sub(1).and_then(|before| tokens.get(before));
            let binds =
                matches!(before, Some(TokenTree::Ident(word)) if word == "let" || word == "mut");
            let called = matches!(tokens.get(place + 1), Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Parenthesis);
            binds || called || bar(before) || bar(tokens.get(place + 1))
        }
        _ => false,
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

#[cfg(test)]
mod tests {
    use super::{names, uses_of_source};

    fn used(text: &str) -> Vec<String> {
        let tokens = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        names(tokens).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_is_used_where_it_stands_alone() {
        assert_eq!(used("plan.steps.len() + limit"), ["plan", "limit"]);
        assert_eq!(used("Plan { plan: other, ..old }"), ["Plan", "other", "old"]);
        assert_eq!(used("plan::LIMIT + a::plan"), Vec::<String>::new());
        assert_eq!(used("0..plan"), ["plan"]);
        assert_eq!(used("format!(\"{plan} {{no}} {0} {x:>3}\", y)"), ["plan", "x", "y"]);
        assert_eq!(
            used("format!(\"{:>width$.precision$}|{y:?}\", x)"),
            ["precision", "width", "y", "x"]
        );
        assert_eq!(used("a != b"), ["a", "b"]);
        assert_eq!(used("source.plan"), ["source"]);
    }

    #[test]
    fn the_source_is_used_by_its_fields_or_as_a_whole() {
        let uses = |text: &str| {
            let (fields, whole) = uses_of_source(text.parse().unwrap_or_default());
            let fields: Vec<_> = fields.iter().map(ToString::to_string).collect();
            (fields.join(","), whole.is_some())
        };
        assert_eq!(uses("source.plan.risk + f(&source.limit)"), ("plan,limit".to_owned(), false));
        assert_eq!(uses("source.is_late()"), (String::new(), true));
        assert_eq!(uses("f(&source)"), (String::new(), true));
        assert_eq!(uses("format!(\"{source:?}\")"), (String::new(), true));
        assert_eq!(uses("other.source"), (String::new(), false));
    }
}
