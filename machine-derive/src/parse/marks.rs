//! The names of our attributes, and those of fields and payload items: `#[was = "old_name"]` and
//! `#[audience(human)]`.

use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, parse::ParseStream};

use crate::{errors::Errors, message};

/// Who may see a field. Without a mark, nobody but the program itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    #[default]
    Internal,
    Diagnostic,
    Human,
}

impl Audience {
    fn of(name: &Ident) -> Option<Self> {
        match name.to_string().as_str() {
            "internal" => Some(Self::Internal),
            "diagnostic" => Some(Self::Diagnostic),
            "human" => Some(Self::Human),
            _ => None,
        }
    }
}

/// The attributes of a state.
const OF_STATES: [&str; 9] =
    ["initial", "stable", "terminal", "on", "group", "only_after", "never_after", "was", "upgrade"];

/// The attributes of a field.
const OF_FIELDS: [&str; 2] = ["was", "audience"];

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    State,
    Field,
}

impl Place {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::State => &OF_STATES,
            Self::Field => &OF_FIELDS,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::State => Self::Field,
            Self::Field => Self::State,
        }
    }
}

/// Whose an attribute is.
pub(super) enum Mark {
    Ours(&'static str),
    /// It stands in the wrong place, which was reported.
    Misplaced,
    /// It belongs to a derive, or to the compiler.
    Foreign,
}

/// Finds the mark that an attribute is. A misspelt one is reported, and then taken for the one that
/// was meant, so that nothing else is missing.
pub(super) fn mark(attribute: &Attribute, place: Place, errors: &mut Errors) -> Mark {
    let Some(name) = attribute.path().get_ident() else { return Mark::Foreign };
    let exact = |known: &&&'static str| name == **known;
    if let Some(known) = place.names().iter().find(exact) {
        return Mark::Ours(known);
    }
    if place.other().names().iter().any(|known| name == known) {
        let (here, there) = match place {
            Place::State => ("a state", "the field that it describes"),
            Place::Field => ("a field", "the state"),
        };
        errors.at(name.span(), message::misplaced_mark(name, here, there));
        return Mark::Misplaced;
    }
    let text = name.to_string();
    let meant = |known: &&&'static str| is_misspelt(&text, known);
    if let Some(known) = place.names().iter().find(meant) {
        errors.at(name.span(), message::misspelt_mark(name, known));
        return Mark::Ours(known);
    }
    if let Some(known) = place.other().names().iter().find(meant) {
        errors.at(name.span(), message::misspelt_mark(name, known));
        return Mark::Misplaced;
    }
    Mark::Foreign
}

/// Whether `written` is probably `known` with a typing error.
fn is_misspelt(written: &str, known: &str) -> bool {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let (written, known) = (plain(written), plain(known));
    let allowed = if known.len() < 5 { 1 } else { 2 };
    strsim::damerau_levenshtein(&written, &known) <= allowed
}

/// What the attributes of a payload item say.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) was: Vec<LitStr>,
    pub(super) audience: Option<Audience>,
}

/// Takes `#[was = "old_name"]` out of the attributes.
pub(super) fn take_was(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<LitStr> {
    let mut was = Vec::new();
    attributes.retain(|attribute| {
        if !attribute.path().is_ident("was") {
            return true;
        }
        match &attribute.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if !text.value().is_empty() => {
                    was.push(text.clone());
                }
                other => errors.on(other, message::malformed_was()),
            },
            other => errors.on(other, message::malformed_was()),
        }
        false
    });
    was
}

/// Takes `#[audience(human)]` out of the attributes of a field.
pub(super) fn take_audience(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Audience {
    let mut found = None;
    attributes.retain(|attribute| {
        if !attribute.path().is_ident("audience") {
            return true;
        }
        match audience(attribute) {
            Some(_) if found.is_some() => {
                errors.on(attribute, message::repeated_option(&"audience"));
            }
            Some(audience) => found = Some(audience),
            None => errors.on(attribute, message::malformed_audience()),
        }
        false
    });
    found.unwrap_or_default()
}

fn audience(attribute: &Attribute) -> Option<Audience> {
    Audience::of(&attribute.parse_args().ok()?)
}

/// The marks of a payload item, whose attributes are inside another attribute.
pub(super) fn of_item(input: ParseStream<'_>) -> syn::Result<Marks> {
    let mut marks = Marks::default();
    for attribute in Attribute::parse_outer(input)? {
        match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("was") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => marks.was.push(text.clone()),
                other => {
                    return Err(syn::Error::new_spanned(
                        other,
                        "`was` takes the old name as a string",
                    ));
                }
            },
            other if other.path().is_ident("audience") => {
                let Some(audience) = audience(&attribute) else {
                    let problem = "`audience` takes `human`, `diagnostic` or `internal`";
                    return Err(syn::Error::new_spanned(other, problem));
                };
                if marks.audience.replace(audience).is_some() {
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
    Ok(marks)
}
