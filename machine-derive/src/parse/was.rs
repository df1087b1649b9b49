use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, parse::ParseStream};

use crate::{errors::Errors, message};

/// Takes `#[was = "old_name"]` out of the attributes.
pub(super) fn take(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<LitStr> {
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

/// The same for payload items, whose attributes are inside another attribute.
pub(super) fn of_item(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    let mut was = Vec::new();
    for attribute in Attribute::parse_outer(input)? {
        match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("was") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => was.push(text.clone()),
                other => {
                    return Err(syn::Error::new_spanned(
                        other,
                        "`was` takes the old name as a string",
                    ));
                }
            },
            other => {
                let problem = "an item of a payload takes no attribute but `#[was = \"old_name\"]`";
                return Err(syn::Error::new_spanned(other, problem));
            }
        }
    }
    Ok(was)
}
