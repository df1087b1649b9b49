use proc_macro2::{Span, TokenStream};
use syn::{
    Attribute, Ident, LitInt, Path, Token, Type,
    ext::IdentExt,
    parenthesized,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    token::Paren,
};

use super::{Transition, Upgrade, shared::Fields, transition};
use crate::{
    errors::Errors,
    message,
    tokens::{at_end, read_list, until_comma},
};

const OPTIONS: [&str; 7] = ["durable", "context", "version", "upgrade", "crate", "fields", "on"];

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) durable: Option<Span>,
    pub(crate) context: Option<Type>,
    pub(crate) version: Option<u32>,
    pub(crate) upgrades: Vec<Upgrade>,
    pub(crate) krate: Option<Path>,
    pub(super) fields: Vec<Fields>,
    /// Transitions of several states: these states and groups, and what leaves each of them.
    pub(crate) from_several: Vec<(Vec<Ident>, Transition)>,
    /// Guesses for malformed transitions, for the stubs.
    pub(crate) unreadable: Vec<Transition>,
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let all = |input: ParseStream<'_>| read_list(input, |input| options.read(input, errors));
        let read = all.parse2(tokens);
        errors.read(read, message::malformed_options);
        options
    }

    fn read(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        let ahead = input.fork();
        let name = ahead.call(Ident::parse_any).map(|name| name.to_string()).unwrap_or_default();
        match name.as_str() {
            "durable" if at_end(&ahead) => {
                let span = input.parse::<Ident>()?.span();
                once(&mut self.durable, span, "durable", span, errors);
            }
            "crate" | "context" | "version" if ahead.peek(Token![=]) => {
                let span = input.call(Ident::parse_any)?.span();
                input.parse::<Token![=]>()?;
                self.read_value(&name, span, input, errors)?;
            }
            "upgrade" | "fields" | "on" if ahead.peek(Paren) => {
                input.parse::<Ident>()?;
                let inside;
                parenthesized!(inside in input);
                match name.as_str() {
                    "upgrade" => {
                        let read = Punctuated::<Upgrade, Token![,]>::parse_terminated(&inside);
                        let upgrades = errors.read(read, message::malformed_upgrade);
                        self.upgrades.extend(upgrades.into_iter().flatten());
                    }
                    "fields" => self.fields.push(Fields::read(&inside, errors)),
                    _ => self.read_on(&inside, errors),
                }
                // The rest of what is malformed, which was reported.
                inside.parse::<TokenStream>()?;
            }
            _ => {
                let option = until_comma(input)?;
                errors.on(&option, message::unknown_option(&option, &name, &OPTIONS));
            }
        }
        Ok(())
    }

    /// Reads what follows `crate =`, `context =` or `version =`.
    fn read_value(
        &mut self,
        name: &str,
        span: Span,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        match name {
            "crate" => {
                let path = input.call(Path::parse_mod_style)?;
                once(&mut self.krate, path, "crate", span, errors);
            }
            "context" => {
                let missing = |_| syn::Error::new(span, "`context` needs a type");
                let context = input.parse().map_err(missing)?;
                once(&mut self.context, context, "context", span, errors);
            }
            _ => {
                let value = until_comma(input)?;
                match syn::parse2(value.clone()).and_then(|number: LitInt| number.base10_parse()) {
                    Ok(version) if version > 0 => {
                        once(&mut self.version, version, "version", span, errors);
                    }
                    _ if value.is_empty() => errors.at(span, message::malformed_version()),
                    _ => errors.on(value, message::malformed_version()),
                }
            }
        }
        Ok(())
    }

    fn read_on(&mut self, input: ParseStream<'_>, errors: &mut Errors) {
        let ahead = input.fork();
        let _: syn::Result<Vec<Attribute>> = ahead.call(Attribute::parse_outer);
        let guess = transition::guess(&ahead, None).ok();
        let read = errors.read(documented(input), message::malformed_on_of_several);
        let Some(mut transition) = read else { return self.unreadable.extend(guess) };
        errors.repeated(&transition.repeated);
        let name = &transition.trigger;
        if transition.from.is_empty() {
            errors.on(name, message::from_missing(name));
            self.unreadable.push(transition);
        } else {
            self.from_several.push((std::mem::take(&mut transition.from), transition));
        }
    }
}

fn documented(input: ParseStream<'_>) -> syn::Result<Transition> {
    let docs = input.call(Attribute::parse_outer)?;
    if let Some(other) = docs.iter().find(|attribute| !attribute.path().is_ident("doc")) {
        let problem = "only a doc comment and `#[cfg(..)]` may stand in front of a transition";
        return Err(syn::Error::new_spanned(other, problem));
    }
    let mut transition: Transition = input.parse()?;
    transition.docs = docs;
    Ok(transition)
}

/// Keeps the first of two, and reports the second.
fn once<T>(kept: &mut Option<T>, given: T, name: &'static str, span: Span, errors: &mut Errors) {
    if kept.is_some() {
        errors.at(span, message::repeated_option(&name));
    } else {
        *kept = Some(given);
    }
}
