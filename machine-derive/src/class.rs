//! `#[derive(Class)]`: the classes of the library's enums, for `tracing`.

use heck::ToSnakeCase;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Meta, Variant};

/// Gives an enum the method `class`: the text of `#[class = ".."]`; or the class of the last field,
/// for a transparent variant and one with `#[class]`; or the name of the variant in snake case.
pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(&input.ident, "only enums have classes"));
    };
    let name = &input.ident;
    let arms = data.variants.iter().map(arm);
    Ok(quote! {
        #[allow(clippy::pedantic)]
        impl #name {
            /// The class, for `error.type`.
            pub(crate) fn class(&self) -> &'static str {
                match self { #(#arms,)* }
            }
        }
    })
}

fn arm(variant: &Variant) -> TokenStream {
    let name = &variant.ident;
    let own = name.to_string().to_snake_case();
    let mut class = quote!(Self::#name { .. } => #own);
    let source = variant.fields.members().last();
    for attribute in &variant.attrs {
        class = match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("class") => {
                let given = &meta.value;
                return quote!(Self::#name { .. } => #given);
            }
            Meta::List(list) if list.tokens.to_string() == "transparent" => {
                quote!(Self::#name { #source: error, .. } => error.class())
            }
            Meta::Path(path) if path.is_ident("class") => {
                quote!(Self::#name { #source: error, .. } => error.class())
            }
            _ => class,
        };
    }
    class
}
