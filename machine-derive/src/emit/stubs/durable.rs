use proc_macro2::TokenStream;
use quote::quote;

use crate::emit::names::Names;

/// The traits that stores require.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    // A generic durable machine was already reported.
    if !names.durable || !names.params.is_empty() {
        return TokenStream::new();
    }
    let Names { typed, any, .. } = names;
    let durable = quote! {
        fn definition(&self) -> &'static __machine::definition::Definition {
            loop {}
        }
        fn state_index(&self) -> usize {
            loop {}
        }
        fn journal(&self) -> &__machine::__private::Journal {
            loop {}
        }
        fn __rules(&self) -> &dyn __machine::__private::Rules {
            loop {}
        }
        fn __journal_mut(
            &mut self,
            _: __machine::__private::Pass,
        ) -> &mut __machine::__private::Journal {
            loop {}
        }
        fn __state_text(&self) -> ::core::result::Result<
            ::std::string::String,
            __machine::__private::serde_json::Error,
        > {
            loop {}
        }
        fn __context_text(&self) -> ::core::result::Result<
            ::std::sync::Arc<str>,
            __machine::__private::serde_json::Error,
        > {
            loop {}
        }
    };
    quote! {
        impl<S: ::core::marker::Send> __machine::__private::Durable for #typed<S> { #durable }

        impl __machine::__private::Durable for #any { #durable }

        impl __machine::__private::Restore for #any {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;

            fn __restore(
                _: __machine::__private::Verified,
            ) -> ::core::result::Result<Self, __machine::__private::Unread> {
                loop {}
            }
        }
    }
}
