//! `#[cfg]` on states, transitions, fields and generic parameters.
//!
//! An attribute macro also sees items that `cfg` disables, and only the compiler can evaluate
//! `cfg`. It strips disabled items before it calls a derive macro. So a declaration that contains
//! `cfg` is emitted once more as an unused enum, and comes back through the derive macro
//! [`declaration`] without the disabled items.

mod options;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, DeriveInput, ItemEnum, Meta, Variant,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::{emit, errors::Errors, parse::Options, pipeline, tokens::any};

pub(crate) fn is_in(tokens: TokenStream) -> bool {
    any(tokens, |spot| {
        let is_cfg = spot.ident().is_some_and(|name| name == "cfg" || name == "cfg_attr");
        is_cfg && spot.is_called() && spot.at(-1).is_none()
    })
}

/// Sends the declaration through the compiler. One attribute carries what the derive macro needs
/// but must not apply to the unused enum: options, derives, visibility and name.
pub(crate) fn ask_the_compiler(options: &TokenStream, mut item: ItemEnum) -> TokenStream {
    // Mistakes in the options are reported by `declaration`.
    let krate = Options::parse(options.clone(), &mut Errors::default()).krate;
    let krate = krate.map_or_else(|| quote!(::machine), ToTokens::into_token_stream);
    let (options, taken) = options::take(options.clone());
    item.variants.extend(taken);
    let (vis, name) = (item.vis, item.ident);
    let (inert, active): (Vec<_>, Vec<_>) =
        item.attrs.into_iter().partition(|attribute| attribute.path().is_ident("doc"));
    for attribute in attributes(&mut item.variants) {
        attribute.meta = syn::parse2(wrap(attribute.meta.to_token_stream()))
            .unwrap_or_else(|_| attribute.meta.clone());
    }
    // Rust rejects unused generic parameters.
    let markers = emit::markers(&item.generics);
    if !markers.is_empty() {
        item.variants.push(syn::parse_quote!(__Parameters(#(#markers),*)));
    }
    item.ident = format_ident!("__{}", name);
    item.vis = syn::Visibility::Inherited;
    item.attrs = inert;
    quote! {
        #[derive(#krate::__private::Declaration)]
        #[__carried((#options), (#(#active)*), (#vis), (#name))]
        #[allow(dead_code)]
        #item
    }
}

fn attributes(
    variants: &mut Punctuated<Variant, syn::Token![,]>,
) -> impl Iterator<Item = &mut Attribute> {
    variants.iter_mut().flat_map(|variant| {
        let fields = variant.fields.iter_mut().flat_map(|field| &mut field.attrs);
        variant.attrs.iter_mut().chain(fields)
    })
}

/// Wraps an attribute in a helper attribute of the derive macro: it does not know the helpers of
/// other derives, and rustc has its own attribute `stable`. `cfg` conditions stay unwrapped.
fn wrap(meta: TokenStream) -> TokenStream {
    let Some(TokenTree::Ident(name)) = meta.clone().into_iter().next() else { return meta };
    if name == "cfg" || name == "doc" {
        return meta;
    }
    let condition = |input: ParseStream<'_>| {
        let condition: Meta = input.parse()?;
        let mut given = Vec::new();
        while input.parse::<Option<syn::Token![,]>>()?.is_some() && !input.is_empty() {
            given.push(wrap(input.parse::<Meta>()?.into_token_stream()));
        }
        Ok(quote!(cfg_attr(#condition, #(#given),*)))
    };
    match syn::parse2(meta.clone()) {
        Ok(Meta::List(list)) if name == "cfg_attr" => condition.parse2(list.tokens).unwrap_or(meta),
        _ => quote!(__written(#meta)),
    }
}

pub(crate) fn declaration(item: TokenStream) -> TokenStream {
    let Ok(mut input) = syn::parse2::<DeriveInput>(item) else { return TokenStream::new() };
    if let syn::Data::Enum(data) = &mut input.data {
        for attribute in attributes(&mut data.variants) {
            if let Meta::List(list) = &attribute.meta
                && list.path.is_ident("__written")
                && let Ok(written) = list.parse_args()
            {
                attribute.meta = written;
            }
        }
    }
    let (carried, attrs): (Vec<_>, Vec<_>) =
        input.attrs.iter().partition(|attribute| attribute.path().is_ident("__carried"));
    let groups = Punctuated::<proc_macro2::Group, syn::Token![,]>::parse_terminated;
    let groups = carried.first().and_then(|carried| carried.parse_args_with(groups).ok());
    let groups: Vec<_> = groups.into_iter().flatten().map(|group| group.stream()).collect();
    // `ask_the_compiler` wrote this attribute, so it has these four groups.
    let [options, active, vis, name] = groups.as_slice() else { return TokenStream::new() };
    let syn::Data::Enum(data) = &input.data else { return TokenStream::new() };
    let attrs = attrs.iter().filter(|attribute| !attribute.path().is_ident("allow"));
    let (generics, predicates) = (&input.generics, &input.generics.where_clause);
    let is_a_state =
        |variant: &&Variant| variant.ident != "__Parameters" && !options::is_ours(&variant.ident);
    let variants: Punctuated<_, syn::Token![,]> = data.variants.iter().filter(is_a_state).collect();
    pipeline::expand(
        options::put_back(options.clone(), &data.variants),
        quote! { #(#attrs)* #active #vis enum #name #generics #predicates { #variants } },
    )
}
