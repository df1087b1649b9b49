//! Options on their way through the compiler, as variants of the unused enum: it strips disabled
//! fields of these, and the variants of disabled transitions.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{
    Attribute, Field, Fields, Token, Variant,
    parse::{ParseStream, Parser},
    parse_quote,
    punctuated::Punctuated,
};

use crate::tokens::{read_list, until_comma};

const NAME: &str = "__Option";

/// Takes the fields out of each `fields(..)` of the options, and the conditions out of each
/// `on(..)`, and leaves the name of their variant there.
pub(super) fn take(options: TokenStream) -> (TokenStream, Vec<Variant>) {
    let mut variants: Vec<Variant> = Vec::new();
    let options = in_each(options, |option, group| {
        let name = format_ident!("{NAME}{}", variants.len());
        // Mistakes in the options are reported by `declaration`.
        let (variant, rest) = if option == "fields" {
            let Ok((fields, rest)) = read_fields.parse2(group.clone()) else { return Some(group) };
            (parse_quote!(#name { #fields }), quote!(#(#rest),*))
        } else {
            let Ok((conditions, rest)) = read_on.parse2(group.clone()) else { return Some(group) };
            if conditions.is_empty() {
                return Some(group);
            }
            (parse_quote!(#(#conditions)* #name), rest)
        };
        variants.push(variant);
        Some(quote!(#name, #rest))
    });
    (options, variants)
}

pub(super) fn put_back(
    options: TokenStream,
    variants: &Punctuated<Variant, Token![,]>,
) -> TokenStream {
    in_each(options, |_, group| {
        let mut rest = group.clone().into_iter();
        let Some(TokenTree::Ident(name)) = rest.next() else { return Some(group) };
        if !is_ours(&name) {
            return Some(group);
        }
        let (variant, rest) =
            (variants.iter().find(|variant| variant.ident == name)?, rest.skip(1));
        let fields = variant.fields.iter();
        let is_left = matches!(variant.fields, Fields::Unit) || !variant.fields.is_empty();
        is_left.then(|| quote!(#(#fields,)* #(#rest)*))
    })
}

pub(super) fn is_ours(name: &Ident) -> bool {
    name.to_string().starts_with(NAME)
}

/// Changes what stands in each `fields(..)` and `on(..)`, or removes all of it.
fn in_each(
    options: TokenStream,
    mut change: impl FnMut(&Ident, TokenStream) -> Option<TokenStream>,
) -> TokenStream {
    let mut changed: Vec<TokenTree> = Vec::new();
    let mut tokens = options.into_iter();
    while let Some(token) = tokens.next() {
        let option = match changed.last() {
            Some(TokenTree::Ident(name)) if name == "fields" || name == "on" => Some(name.clone()),
            _ => None,
        };
        match (token, option) {
            (TokenTree::Group(group), Some(option)) => {
                if let Some(stream) = change(&option, group.stream()) {
                    let mut inner = Group::new(group.delimiter(), stream);
                    inner.set_span(group.span());
                    changed.push(TokenTree::Group(inner));
                } else {
                    changed.pop();
                    // The comma.
                    tokens.next();
                }
            }
            (other, _) => changed.push(other),
        }
    }
    changed.into_iter().collect()
}

/// The fields, and what else stands between the commas: `in = A | B`.
fn read_fields(
    input: ParseStream<'_>,
) -> syn::Result<(Punctuated<Field, Token![,]>, Vec<TokenStream>)> {
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

/// The conditions of a transition, and the rest of it.
fn read_on(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, TokenStream)> {
    let attributes = input.call(Attribute::parse_outer)?.into_iter();
    let (conditions, others): (Vec<_>, Vec<_>) =
        attributes.partition(|attribute| attribute.path().is_ident("cfg"));
    let rest: TokenStream = input.parse()?;
    Ok((conditions, quote!(#(#others)* #rest)))
}
