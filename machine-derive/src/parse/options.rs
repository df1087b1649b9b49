use proc_macro2::{Span, TokenStream};
use syn::{Meta, Type, parse::Parser, punctuated::Punctuated, spanned::Spanned};

use crate::{errors::Errors, message};

/// What stands in `#[machine(..)]`.
#[derive(Default)]
pub(crate) struct Options {
    /// Where `durable` stands, if it does.
    pub(crate) durable: Option<Span>,
    pub(crate) context: Option<Type>,
}

impl Options {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let span = tokens.span();
        let Ok(metas) = Punctuated::<Meta, syn::Token![,]>::parse_terminated.parse2(tokens) else {
            errors.at(span, message::unknown_option());
            return options;
        };
        for meta in metas {
            match &meta {
                Meta::Path(path) if path.is_ident("durable") => options.durable = Some(path.span()),
                Meta::NameValue(pair) if pair.path.is_ident("context") => {
                    let value = &pair.value;
                    match syn::parse2(quote::quote!(#value)) {
                        Ok(context) => options.context = Some(context),
                        Err(_) => errors.on(value, message::unknown_option()),
                    }
                }
                _ => errors.on(&meta, message::unknown_option()),
            }
        }
        options
    }
}
