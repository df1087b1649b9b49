//! Tokens and their neighbours.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::{Token, parse::ParseStream};

/// True where an item of a list ends.
pub(crate) fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// The rest of an item of a list.
pub(crate) fn until_comma(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !at_end(input) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

/// Reads items with a comma between each two of them.
pub(crate) fn read_list(
    input: ParseStream<'_>,
    mut item: impl FnMut(ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    while !input.is_empty() {
        item(input)?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

/// A token among those of its group.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'t> {
    tokens: &'t [TokenTree],
    place: usize,
}

/// Visits every token that is not a group, in order.
pub(crate) fn walk(tokens: TokenStream, visit: &mut dyn FnMut(Spot<'_>)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => walk(group.stream(), visit),
            _ => visit(Spot { tokens: &tokens, place }),
        }
    }
}

/// The tokens with some of those replaced that are not groups.
pub(crate) fn replace(
    tokens: TokenStream,
    by: &dyn Fn(Spot<'_>) -> Option<TokenTree>,
) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let replaced = tokens.iter().enumerate().map(|(place, token)| match token {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), replace(group.stream(), by));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        token => by(Spot { tokens: &tokens, place }).unwrap_or_else(|| token.clone()),
    });
    replaced.collect()
}

pub(crate) fn any(tokens: TokenStream, fits: impl Fn(Spot<'_>) -> bool) -> bool {
    let mut any = false;
    walk(tokens, &mut |spot| any |= fits(spot));
    any
}

/// True if the tokens have an identifier of this name.
pub(crate) fn says(tokens: &TokenStream, name: &str) -> bool {
    any(tokens.clone(), |spot| spot.ident().is_some_and(|ident| ident == name))
}

impl<'t> Spot<'t> {
    /// The token at this distance; negative ones are before it.
    pub(crate) fn at(self, distance: isize) -> Option<&'t TokenTree> {
        self.tokens.get(self.place.checked_add_signed(distance)?)
    }

    pub(crate) fn ident(self) -> Option<&'t Ident> {
        match self.at(0) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    pub(crate) fn is(self, distance: isize, sign: char) -> bool {
        matches!(self.at(distance), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
    }

    pub(crate) fn is_called(self) -> bool {
        matches!(self.at(1), Some(TokenTree::Group(group))
            if group.delimiter() == Delimiter::Parenthesis)
    }

    /// True if the word is a name by itself: not a field, a method or part of a path.
    pub(crate) fn is_alone(self) -> bool {
        let member = self.is(-1, '.') && !self.is(-2, '.');
        let in_path = self.is(-1, ':') && self.is(-2, ':') || self.is(1, ':') && self.is(2, ':');
        let key = self.is(1, ':') && !self.is(2, ':');
        let macro_name = self.is(1, '!') && matches!(self.at(2), Some(TokenTree::Group(_)));
        !(member || in_path || key || macro_name || self.is(-1, '\''))
    }
}
