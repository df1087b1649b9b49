use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Ident, LitInt, Path, Token, Type, parenthesized,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use super::{Transition, Upgrade, transition};
use crate::{errors::Errors, message};

/// What stands in `#[machine(..)]`.
#[derive(Default)]
pub(crate) struct Options {
    /// Where `durable` stands, if it does.
    pub(crate) durable: Option<Span>,
    pub(crate) context: Option<Type>,
    /// The version of the stored data, where it is given.
    pub(crate) version: Option<(u32, Span)>,
    /// How contexts of older versions become those of this one.
    pub(crate) upgrades: Vec<Upgrade>,
    /// The path of the library, where it has another name.
    pub(crate) krate: Option<Path>,
    /// Transitions of whole groups: the group, and what leaves each of its states.
    pub(crate) from_groups: Vec<(Ident, Transition)>,
    /// What can be guessed of the transitions that are wrong, for the stubs.
    pub(crate) unreadable: Vec<Transition>,
}

enum Word {
    Durable(Span),
    Context(Span, Box<Type>),
    Version(Span, LitInt),
    NoVersion(Span, TokenStream),
    Upgrade(Punctuated<Upgrade, Token![,]>),
    NoUpgrade(syn::Error),
    Crate(Span, Path),
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
            Word::Durable(span) => once(&mut self.durable, span, "durable", span, errors),
            Word::Context(span, context) => {
                once(&mut self.context, *context, "context", span, errors);
            }
            Word::Crate(span, path) => once(&mut self.krate, path, "crate", span, errors),
            Word::Version(span, number) => match number.base10_parse() {
                Ok(0) | Err(_) => errors.on(&number, message::malformed_version()),
                Ok(version) => {
                    once(&mut self.version, (version, number.span()), "version", span, errors);
                }
            },
            Word::NoVersion(span, wrong) if wrong.is_empty() => {
                errors.at(span, message::malformed_version());
            }
            Word::NoVersion(_, wrong) => errors.on(wrong, message::malformed_version()),
            Word::NoUpgrade(problem) => {
                errors.at(problem.span(), message::malformed_upgrade(&problem));
            }
            Word::Upgrade(upgrades) => self.upgrades.extend(upgrades),
            Word::On(mut transition) => {
                transition.report(errors);
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

/// Keeps the first of two, and reports the second.
fn once<T>(kept: &mut Option<T>, given: T, name: &'static str, span: Span, errors: &mut Errors) {
    if kept.is_some() {
        errors.at(span, message::repeated_option(&name));
    } else {
        *kept = Some(given);
    }
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let at_end = |input: ParseStream<'_>| input.is_empty() || input.peek(Token![,]);
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            let span = input.parse::<Token![crate]>()?.span;
            input.parse::<Token![=]>()?;
            return Ok(Self::Crate(span, input.call(Path::parse_mod_style)?));
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
                return Ok(Self::Context(name.span(), Box::new(input.parse().map_err(missing)?)));
            }
            if name == "version" && ahead.peek(Token![=]) {
                input.parse::<Ident>()?;
                input.parse::<Token![=]>()?;
                if input.peek(LitInt) {
                    return Ok(Self::Version(name.span(), input.parse()?));
                }
                let mut wrong = TokenStream::new();
                while !at_end(input) {
                    input.parse::<TokenTree>()?.to_tokens(&mut wrong);
                }
                return Ok(Self::NoVersion(name.span(), wrong));
            }
            if name == "upgrade" && ahead.peek(syn::token::Paren) {
                input.parse::<Ident>()?;
                let upgrades;
                parenthesized!(upgrades in input);
                return Ok(match Punctuated::parse_terminated(&upgrades) {
                    Ok(upgrades) => Self::Upgrade(upgrades),
                    Err(problem) => {
                        upgrades.parse::<TokenStream>()?;
                        Self::NoUpgrade(problem)
                    }
                });
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
