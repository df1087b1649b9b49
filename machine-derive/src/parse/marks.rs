//! The names of our attributes, and those of fields and payload items: `#[was = "old_name"]`,
//! `#[audience(human)]` and, for fields only, `#[lossy]`.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Attribute, Ident, LitInt, LitStr, Meta, Path, Token,
    parse::{Parse, ParseStream},
};

use crate::{errors::Errors, message};

/// The audience of a field. Without a mark, only the program itself sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    #[default]
    Internal,
    Diagnostic,
    Human,
}

const OF_STATES: [&str; 9] =
    ["initial", "stable", "terminal", "on", "invoke", "group", "only_after", "was", "upgrade"];

const OF_FIELDS: [&str; 3] = ["was", "audience", "lossy"];

/// A position: its attributes, those of the other position, and both positions in words.
pub(super) struct Place(&'static [&'static str], &'static [&'static str], [&'static str; 2]);

pub(super) const ON_STATES: Place =
    Place(&OF_STATES, &OF_FIELDS, ["a state", "the field that it describes"]);

pub(super) const ON_FIELDS: Place = Place(&OF_FIELDS, &OF_STATES, ["a field", "the state"]);

pub(super) enum Mark {
    Ours(&'static str),
    /// Ours in the wrong place, which was reported.
    Misplaced,
    /// It belongs to a derive, or to the compiler.
    Foreign,
}

/// Finds the mark that an attribute is. A misspelt one is reported, and then taken for the one that
/// was meant, so that nothing else is missing.
pub(super) fn mark(attribute: &Attribute, place: &Place, errors: &mut Errors) -> Mark {
    let Some(name) = attribute.path().get_ident() else { return Mark::Foreign };
    let text = name.to_string();
    let Place(ours, others, [here, there]) = place;
    if let Some(known) = ours.iter().find(|known| **known == text) {
        return Mark::Ours(known);
    }
    if others.contains(&&*text) {
        errors.on(name, message::misplaced_mark(name, here, there));
        return Mark::Misplaced;
    }
    let all = ours.iter().chain(*others).copied();
    let Some(known) = message::nearest(name, all) else { return Mark::Foreign };
    errors.on(name, message::misspelt_mark(name, known));
    if ours.contains(&known) { Mark::Ours(known) } else { Mark::Misplaced }
}

/// Takes `#[was = "old_name"]` out of the attributes.
pub(super) fn take_was(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<LitStr> {
    let old = attributes.extract_if(.., |attribute| attribute.path().is_ident("was"));
    let old = old.map(|attribute| parse_was(&attribute));
    old.filter_map(|was| was.map_err(|wrong| errors.on(wrong, message::malformed_was())).ok())
        .collect()
}

/// The old name, or the tokens instead of one.
fn parse_was(attribute: &Attribute) -> Result<LitStr, TokenStream> {
    let value = match &attribute.meta {
        Meta::NameValue(pair) => pair.value.to_token_stream(),
        other => other.to_token_stream(),
    };
    let text = syn::parse2(value.clone()).ok();
    text.filter(|text: &LitStr| !text.value().is_empty()).ok_or(value)
}

/// Takes `#[audience(human)]` out of the attributes of a field.
pub(super) fn take_audience(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Audience {
    let mut found = None;
    for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("audience")) {
        match parse_audience(&attribute) {
            Some(_) if found.is_some() => {
                errors.on(attribute, message::repeated_option(&"audience"));
            }
            Some(audience) => found = Some(audience),
            None => errors.on(attribute, message::malformed_audience()),
        }
    }
    found.unwrap_or_default()
}

fn parse_audience(attribute: &Attribute) -> Option<Audience> {
    match attribute.parse_args::<Ident>().ok()?.to_string().as_str() {
        "internal" => Some(Audience::Internal),
        "diagnostic" => Some(Audience::Diagnostic),
        "human" => Some(Audience::Human),
        _ => None,
    }
}

/// The old names and the audience of a payload item, whose attributes are inside another attribute.
pub(super) fn of_item(input: ParseStream<'_>) -> syn::Result<(Vec<LitStr>, Option<Audience>)> {
    let (mut was, mut audience) = (Vec::new(), None);
    for attribute in Attribute::parse_outer(input)? {
        match &attribute.meta {
            meta if meta.path().is_ident("was") => {
                let problem = "`was` takes the old name as a string";
                let wrong = |wrong| syn::Error::new_spanned(wrong, problem);
                was.push(parse_was(&attribute).map_err(wrong)?);
            }
            other if other.path().is_ident("audience") => {
                let Some(given) = parse_audience(&attribute) else {
                    let problem = "`audience` takes `human`, `diagnostic` or `internal`";
                    return Err(syn::Error::new_spanned(other, problem));
                };
                if audience.replace(given).is_some() {
                    return Err(syn::Error::new_spanned(other, "`audience` is given twice"));
                }
            }
            other => {
                let problem = "payload items accept only `#[was = \"old_name\"]` and \
                               `#[audience(human)]`";
                return Err(syn::Error::new_spanned(other, problem));
            }
        }
    }
    Ok((was, audience))
}

/// `1 => path`: the function from data of version 1 to data of version 2.
pub(crate) struct Upgrade {
    pub(crate) number: LitInt,
    pub(crate) from: u32,
    pub(crate) path: Path,
}

impl Parse for Upgrade {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let number: LitInt = input.parse()?;
        let from = number.base10_parse()?;
        input.parse::<Token![=>]>()?;
        Ok(Self { number, from, path: input.call(Path::parse_mod_style)? })
    }
}
