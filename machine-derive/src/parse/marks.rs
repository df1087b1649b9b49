//! The attributes of fields and payload items: `#[was = "old_name"]` and `#[audience(human)]`.

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
                let problem = "an item of a payload takes no attributes but `#[was = \"old_name\"]` \
                               and `#[audience(human)]`";
                return Err(syn::Error::new_spanned(other, problem));
            }
        }
    }
    Ok(marks)
}
