use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::message::Message;

/// Collects the mistakes of one declaration, each on its own span.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    pub(crate) fn at(&mut self, span: Span, message: Message) {
        self.0.push(syn::Error::new(span, message));
    }

    /// Reports over the whole of `tokens`, not their first token only.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: Message) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}
