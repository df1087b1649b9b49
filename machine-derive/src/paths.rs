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
            TokenTree::Group(group) if is_derive(&group) => rewrite_group(&group, None),
            other => other,
        }]);
        if is_enum {
            break;
        }
    }
    out.extend(one_level_down(tokens.collect()));
    out
}

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
            TokenTree::Group(group) => out.extend([rewrite_group(&group, tokens.peek())]),
            other => out.extend([other]),
        }
    }
    out
}

/// Rewrites a group, given the token behind it.
fn rewrite_group(group: &Group, next: Option<&TokenTree>) -> TokenTree {
    let delimiter = match group.delimiter() {
        Delimiter::None if needs_parentheses(&group.stream(), next) => Delimiter::Parenthesis,
        other => other,
    };
    let mut inner = Group::new(delimiter, one_level_down(group.stream()));
    inner.set_span(group.span());
    TokenTree::Group(inner)
}

/// True if an expression from a `macro_rules` macro, as in `$limit * 2`, would fall apart without
/// its invisible delimiters: rustc does not honour those that a procedural macro writes.
///
/// `doc = ".."`, which reads like an assignment, is part of an attribute, and braces may be those
/// of a `$block`.
fn needs_parentheses(tokens: &TokenStream, next: Option<&TokenTree>) -> bool {
    match syn::parse2::<Expr>(tokens.clone()) {
        Ok(expression) => match expression {
            Expr::Binary(_)
            | Expr::Break(_)
            | Expr::Cast(_)
            | Expr::Closure(_)
            | Expr::Range(_)
            | Expr::Return(_)
            | Expr::Unary(_) => true,
            // Only there, because `&T` may be a type.
            Expr::RawAddr(_) | Expr::Reference(_) if is_postfix(next) => true,
            other => has_open_struct(&other),
        },
        Err(_) => match syn::parse2::<Type>(tokens.clone()) {
            Ok(Type::TraitObject(object)) => object.bounds.len() > 1,
            Ok(Type::ImplTrait(object)) => object.bounds.len() > 1,
            _ => false,
        },
    }
}

/// True if the token applies to all of the operand before it: `.len()`, `?`, `(..)` or `[..]`.
fn is_postfix(token: Option<&TokenTree>) -> bool {
    match token {
        Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), '.' | '?'),
        Some(TokenTree::Group(group)) => {
            matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Bracket)
        }
        _ => false,
    }
}

/// True if it has a struct literal whose brace `if` and `match` would take for theirs.
fn has_open_struct(expression: &Expr) -> bool {
    let inner = match expression {
        Expr::Struct(_) => return true,
        Expr::Await(it) => &it.base,
        Expr::Call(it) => &it.func,
        Expr::Field(it) => &it.base,
        Expr::Index(it) => &it.expr,
        Expr::MethodCall(it) => &it.receiver,
        Expr::RawAddr(it) => &it.expr,
        Expr::Reference(it) => &it.expr,
        Expr::Try(it) => &it.expr,
        _ => return false,
    };
    has_open_struct(inner)
}
