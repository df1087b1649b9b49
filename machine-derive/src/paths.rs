//! Paths in tokens. User code moves into the machine's module, so `self::` and `super::` are
//! rewritten for it; `text` converts them back.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::{Expr, Type};

/// The declaration, with paths rewritten in everything that moves into the module: derives, and
/// what follows `enum`. The visibility and the other attributes are not rewritten.
pub(crate) fn body_one_level_down(item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = item.into_iter();
    for token in tokens.by_ref() {
        let is_enum = matches!(&token, TokenTree::Ident(ident) if ident == "enum");
        out.extend([match token {
            TokenTree::Group(group) if is_derive(&group) => rewrite_group(&group),
            other => other,
        }]);
        if is_enum {
            break;
        }
    }
    out.extend(one_level_down(tokens.collect()));
    out
}

/// `[derive(..)]`
fn is_derive(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(ident)) if ident == "derive")
}

/// Rewrites paths that start with `self` or `super`, so that they resolve from inside the machine's
/// module.
pub(crate) fn one_level_down(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    // True if this token follows `::`, or the first `:` of it.
    let (mut in_path, mut first_colon) = (false, false);
    while let Some(token) = tokens.next() {
        let goes_on =
            matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
        let was_in_path = in_path;
        let colon = match &token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => Some(punct.spacing()),
            _ => None,
        };
        in_path = first_colon && colon.is_some();
        first_colon = !in_path && colon == Some(Spacing::Joint);
        match token {
            TokenTree::Ident(ident) if goes_on && !was_in_path && ident == "self" => {
                out.extend(quote_spanned!(ident.span()=> super));
            }
            TokenTree::Ident(ident) if goes_on && !was_in_path && ident == "super" => {
                out.extend(quote_spanned!(ident.span()=> super::super));
            }
            TokenTree::Group(group) => out.extend([rewrite_group(&group)]),
            other => out.extend([other]),
        }
    }
    out
}

fn rewrite_group(group: &Group) -> TokenTree {
    let delimiter = match group.delimiter() {
        Delimiter::None if needs_parentheses(&group.stream()) => Delimiter::Parenthesis,
        other => other,
    };
    let mut inner = Group::new(delimiter, one_level_down(group.stream()));
    inner.set_span(group.span());
    TokenTree::Group(inner)
}

/// True if an expression from a `macro_rules` macro, as in `$limit * 2`, would fall apart without
/// its invisible delimiters: rustc does not honour those that a procedural macro writes.
fn needs_parentheses(tokens: &TokenStream) -> bool {
    match syn::parse2::<Expr>(tokens.clone()) {
        Ok(expression) => matches!(
            expression,
            Expr::Assign(_)
                | Expr::Binary(_)
                | Expr::Cast(_)
                | Expr::Closure(_)
                | Expr::Range(_)
                | Expr::Unary(_)
        ),
        Err(_) => match syn::parse2::<Type>(tokens.clone()) {
            Ok(Type::TraitObject(object)) => object.bounds.len() > 1,
            Ok(Type::ImplTrait(object)) => object.bounds.len() > 1,
            _ => false,
        },
    }
}
