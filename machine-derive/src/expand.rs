use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ItemEnum;

use crate::{above, cfg, emit, errors::Errors, message, parse, paths, pipeline};

/// Expands the attribute. A declaration with `cfg` goes through the compiler first.
pub(crate) fn machine(options: TokenStream, item: TokenStream) -> TokenStream {
    let is_derive = |attribute: &syn::Attribute| attribute.path().is_ident("derive");
    match syn::parse2::<ItemEnum>(item.clone()) {
        Ok(declaration) if !declaration.attrs.iter().any(is_derive) && above::has_derive() => {
            derived_too_early(options, declaration)
        }
        Ok(declaration) if cfg::is_in(options.clone()) || cfg::is_in(item.clone()) => {
            cfg::ask_the_compiler(&options, declaration)
        }
        _ => pipeline::expand(options, item),
    }
}

/// Keeps the enum, for which the derives were expanded; the rest are stubs.
fn derived_too_early(options: TokenStream, declaration: ItemEnum) -> TokenStream {
    let mut errors = Errors::default();
    errors.at(Span::call_site(), message::derive_above());
    let (options, item) =
        (paths::one_level_down(options), paths::body_one_level_down(declaration.to_token_stream()));
    // Other mistakes may follow from this one.
    let mut ignored = Errors::default();
    let stubs = parse::declaration(options, item, &mut ignored)
        .map(|parsed| emit::stubs_beside_the_enum(&parsed, declaration));
    let errors = errors.into_tokens();
    quote! { #errors #stubs }
}
