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
    let mut is_of_source = false;
    for attribute in &variant.attrs {
        match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("class") => {
                let given = &meta.value;
                return quote!(Self::#name { .. } => #given);
            }
            Meta::NameValue(_) => {}
            Meta::List(list) => is_of_source |= list.tokens.to_string() == "transparent",
            Meta::Path(path) => is_of_source |= path.is_ident("class"),
        }
    }
    if is_of_source {
        let source = variant.fields.members().last();
        return quote!(Self::#name { #source: error, .. } => error.class());
    }
    let own = name.to_string().to_snake_case();
    quote!(Self::#name { .. } => #own)
}
