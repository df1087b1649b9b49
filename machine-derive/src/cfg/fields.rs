//! Shared fields on their way through the compiler, as variants of the unused enum: it strips
//! disabled fields of these.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{
    Field, Token, Variant,
    parse::{ParseStream, Parser},
    parse_quote,
    punctuated::Punctuated,
};

use crate::tokens::{read_list, until_comma};

const NAME: &str = "__Fields";

/// Takes the fields out of each `fields(..)` of the options, and leaves the name of their variant
/// there.
pub(super) fn take(options: TokenStream) -> (TokenStream, Vec<Variant>) {
    let mut variants = Vec::new();
    let options = in_each(options, |group| {
        let name = format_ident!("{NAME}{}", variants.len());
        // Mistakes in the options are reported by `declaration`.
        let Ok((fields, rest)) = read.parse2(group.clone()) else { return Some(group) };
        variants.push(parse_quote!(#name { #fields }));
        Some(quote!(#name, #(#rest),*))
    });
    (options, variants)
}

/// Puts the fields that are left back into the options.
pub(super) fn put_back(
    options: TokenStream,
    variants: &Punctuated<Variant, Token![,]>,
) -> TokenStream {
    in_each(options, |group| {
        let mut rest = group.clone().into_iter();
        let Some(TokenTree::Ident(name)) = rest.next() else { return Some(group) };
        let mut taken = variants.iter().filter(|variant| is_ours(variant));
        let Some(variant) = taken.find(|variant| variant.ident == name) else { return Some(group) };
        let (fields, rest) = (variant.fields.iter(), rest.skip(1));
        (!variant.fields.is_empty()).then(|| quote!(#(#fields,)* #(#rest)*))
    })
}

pub(super) fn is_ours(variant: &Variant) -> bool {
    variant.ident.to_string().starts_with(NAME)
}

/// Changes what stands in each `fields(..)`, or removes all of it.
fn in_each(
    options: TokenStream,
    mut change: impl FnMut(TokenStream) -> Option<TokenStream>,
) -> TokenStream {
    let mut changed: Vec<TokenTree> = Vec::new();
    let mut tokens = options.into_iter();
    while let Some(token) = tokens.next() {
        let after_fields =
            matches!(changed.last(), Some(TokenTree::Ident(name)) if name == "fields");
        match token {
            TokenTree::Group(group) if after_fields => {
                if let Some(stream) = change(group.stream()) {
                    let mut inner = Group::new(group.delimiter(), stream);
                    inner.set_span(group.span());
                    changed.push(TokenTree::Group(inner));
                } else {
                    changed.pop();
                    // The comma.
                    tokens.next();
                }
            }
            other => changed.push(other),
        }
    }
    changed.into_iter().collect()
}

/// The fields, and what else stands between the commas: `in = A | B`.
fn read(input: ParseStream<'_>) -> syn::Result<(Punctuated<Field, Token![,]>, Vec<TokenStream>)> {
    let (mut fields, mut rest) = (Punctuated::new(), Vec::new());
    read_list(input, |input| {
        if input.peek(Token![in]) {
            rest.push(until_comma(input)?);
        } else {
            fields.push(Field::parse_named(input)?);
        }
        Ok(())
    })?;
    if fields.is_empty() { Err(input.error("no field")) } else { Ok((fields, rest)) }
}
