//! Implementations of serde's traits. Without the feature `durable`, which was reported, the
//! library has no serde.

use proc_macro2::TokenStream;
use quote::quote;

/// `Serialize` for a type, given the body of its method.
pub(super) fn serialize(ty: &TokenStream, bounds: &TokenStream, body: &TokenStream) -> TokenStream {
    if cfg!(not(feature = "durable")) {
        return TokenStream::new();
    }
    quote! {
        impl __machine::__private::serde::Serialize for #ty #bounds {
            fn serialize<__S: __machine::__private::serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                #body
            }
        }
    }
}

/// `Deserialize` for a type with this parameter, if any, given the body of its method.
pub(super) fn deserialize(
    param: Option<&syn::Ident>,
    ty: &TokenStream,
    bounds: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    if cfg!(not(feature = "durable")) {
        return TokenStream::new();
    }
    quote! {
        impl<'de, #param> __machine::__private::serde::Deserialize<'de> for #ty #bounds {
            fn deserialize<__D: __machine::__private::serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #body
            }
        }
    }
}
