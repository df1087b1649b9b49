use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Ident, Token, Type,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::{errors::Errors, message};

/// What stands in `#[machine(..)]`.
#[derive(Default)]
pub(crate) struct Options {
    /// Where `durable` stands, if it does.
    pub(crate) durable: Option<Span>,
    pub(crate) context: Option<Type>,
}

enum Word {
    Durable(Span),
    Context(Box<Type>),
    Unknown(TokenStream),
}

impl Options {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        match Punctuated::<Word, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(words) => {
                for word in words {
                    match word {
                        Word::Durable(span) => options.durable = Some(span),
                        Word::Context(context) => options.context = Some(*context),
                        Word::Unknown(word) => errors.on(&word, message::unknown_option(&word)),
                    }
                }
            }
            Err(problem) => errors.at(problem.span(), message::malformed_options(&problem)),
        }
        options
    }
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let at_end = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
        let ahead = input.fork();
        if let Ok(name) = ahead.parse::<Ident>() {
            if name == "durable" && at_end(&ahead) {
                input.parse::<Ident>()?;
                return Ok(Self::Durable(name.span()));
            }
            if name == "context" && ahead.peek(Token![=]) {
                input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                return Ok(Self::Context(Box::new(input.parse()?)));
            }
        }
        let mut word = TokenStream::new();
        while !at_end(input) {
            input.parse::<TokenTree>()?.to_tokens(&mut word);
        }
        Ok(Self::Unknown(word))
    }
}
