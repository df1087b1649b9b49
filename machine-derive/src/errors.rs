use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Ident, Type};

use crate::message::{self, Message};

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

    /// What was read; a problem with it is reported.
    pub(crate) fn read<T>(
        &mut self,
        read: syn::Result<T>,
        message: impl FnOnce(&syn::Error) -> Message,
    ) -> Option<T> {
        read.map_err(|problem| self.at(problem.span(), message(&problem))).ok()
    }

    pub(crate) fn repeated(&mut self, options: &[Ident]) {
        for option in options {
            self.on(option, message::repeated_option(option));
        }
    }

    /// Reports an error, and returns a type that has it inside: rustc reports nothing else of its
    /// values, and an error that it meets in several places once.
    pub(crate) fn at_type(&mut self, span: Span, message: Message) -> Type {
        let error = syn::Error::new(span, message);
        let reported = error.to_compile_error();
        self.0.push(error);
        Type::Verbatim(quote!([(); #reported]))
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
