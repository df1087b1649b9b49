//! Which names an expression uses. Rust resolves them; this only looks, so that a name with two
//! meanings is reported and what nobody uses is not bound.

use proc_macro2::{Ident, Literal, TokenStream, TokenTree};

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
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if behind.starts_with(['}', ':'])
            && let Ok(name) = syn::parse_str::<Ident>(name)
        {
            names.push(Ident::new(&name.to_string(), literal.span()));
        }
    }
}

/// The expression with `source.field` replaced by `field` for the fields that were taken out of the
/// source by themselves.
pub(crate) fn without_source(expression: TokenStream, taken: &[&Ident]) -> TokenStream {
    let tokens: Vec<TokenTree> = expression.into_iter().collect();
    let mut out = TokenStream::new();
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        place += 1;
        match token {
            TokenTree::Ident(ident) if ident == "source" && is_alone(&tokens, place - 1) => {
                match (tokens.get(place), tokens.get(place + 1)) {
                    (Some(TokenTree::Punct(dot)), Some(TokenTree::Ident(field)))
                        if dot.as_char() == '.' && taken.contains(&field) =>
                    {
                        out.extend([TokenTree::Ident(field.clone())]);
                        place += 2;
                    }
                    _ => out.extend([token.clone()]),
                }
            }
            TokenTree::Group(group) => {
                let inner = without_source(group.stream(), taken);
                let mut inner = proc_macro2::Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other.clone()]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{names, without_source};

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
        assert_eq!(used("a != b"), ["a", "b"]);
        assert_eq!(used("source.plan"), ["source"]);
    }

    #[test]
    fn a_field_that_was_taken_is_named_by_itself() {
        let tokens =
            "source.plan.risk + f(&source.limit, source.len())".parse().unwrap_or_default();
        let plan = quote::format_ident!("plan");
        let text = without_source(tokens, &[&plan]).to_string().replace(' ', "");
        assert_eq!(text, "plan.risk+f(&source.limit,source.len())");
    }
}
