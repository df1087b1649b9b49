use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::message::Message;

/// The errors of one declaration, each with its own span.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    pub(crate) fn at(&mut self, span: Span, message: Message) {
        self.0.push(syn::Error::new(span, message));
    }

    /// Reports an error that spans all of `tokens`, not only the first one.
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
