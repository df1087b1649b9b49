//! The options behind the first part of `#[on(..)]` and `#[invoke(..)]`.

use syn::{
    Ident, LitStr, Token,
    parse::{Parse, ParseStream},
};

/// Reads `, key ..` to the end. Returns the options that are given a second time; there may be
/// several old names.
pub(super) fn read(
    input: ParseStream<'_>,
    mut option: impl FnMut(&Ident) -> syn::Result<()>,
) -> syn::Result<Vec<Ident>> {
    let (mut seen, mut repeated) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let key: Ident = input.parse()?;
        option(&key)?;
        if key != "was" && seen.contains(&key) {
            repeated.push(key.clone());
        }
        seen.push(key);
    }
    Ok(repeated)
}

/// `= value`
pub(super) fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

pub(super) fn old_name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let problem = "`was` takes the old name as a string";
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), problem))
}
