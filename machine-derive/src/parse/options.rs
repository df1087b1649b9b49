use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Ident, Path, Token, Type, parenthesized,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use super::{Transition, transition};
use crate::{errors::Errors, message};

/// What stands in `#[machine(..)]`.
#[derive(Default)]
pub(crate) struct Options {
    /// Where `durable` stands, if it does.
    pub(crate) durable: Option<Span>,
    pub(crate) context: Option<Type>,
    /// The path of the library, where it has another name.
    pub(crate) krate: Option<Path>,
    /// Transitions of whole groups: the group, and what leaves each of its states.
    pub(crate) from_groups: Vec<(Ident, Transition)>,
    /// What can be guessed of the transitions that are wrong, for the stubs.
    pub(crate) unreadable: Vec<Transition>,
}

enum Word {
    Durable(Span),
    Context(Box<Type>),
    Crate(Path),
    On(Box<Transition>),
    Unreadable(syn::Error, Option<Box<Transition>>),
    Unknown(TokenStream),
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        match Punctuated::<Word, Token![,]>::parse_terminated.parse2(tokens) {
            Ok(words) => words.into_iter().for_each(|word| options.take(word, errors)),
            Err(problem) => errors.at(problem.span(), message::malformed_options(&problem)),
        }
        options
    }

    fn take(&mut self, word: Word, errors: &mut Errors) {
        match word {
            Word::Durable(span) => self.durable = Some(span),
            Word::Context(context) => self.context = Some(*context),
            Word::Crate(path) => self.krate = Some(path),
            Word::On(mut transition) => {
                let name = &transition.trigger;
                if let Some(group) = transition.from.take() {
                    self.from_groups.push((group, *transition));
                } else {
                    errors.at(name.span(), message::group_missing(name));
                    self.unreadable.push(*transition);
                }
            }
            Word::Unreadable(problem, guess) => {
                errors.at(problem.span(), message::malformed_group_on(&problem));
                self.unreadable.extend(guess.map(|guess| *guess));
            }
            Word::Unknown(word) => errors.on(&word, message::unknown_option(&word)),
        }
    }
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let at_end = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            return Ok(Self::Crate(input.call(Path::parse_mod_style)?));
        }
        let ahead = input.fork();
        if let Ok(name) = ahead.parse::<Ident>() {
            if name == "durable" && at_end(&ahead) {
                input.parse::<Ident>()?;
                return Ok(Self::Durable(name.span()));
            }
            if name == "context" && ahead.peek(Token![=]) {
                input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                let missing = |_| syn::Error::new(name.span(), "`context` needs a type");
                return Ok(Self::Context(Box::new(input.parse().map_err(missing)?)));
            }
            if name == "on" && ahead.peek(syn::token::Paren) {
                input.parse::<Ident>()?;
                let transition;
                parenthesized!(transition in input);
                let guess = transition::guess(&transition.fork(), None).ok().map(Box::new);
                return Ok(match transition.parse() {
                    Ok(transition) => Self::On(Box::new(transition)),
                    Err(problem) => {
                        transition.parse::<TokenStream>()?;
                        Self::Unreadable(problem, guess)
                    }
                });
            }
        }
        let mut word = TokenStream::new();
        while !at_end(input) {
            input.parse::<TokenTree>()?.to_tokens(&mut word);
        }
        Ok(Self::Unknown(word))
    }
}
