//! Options of serde, which may change how data are written and read.

use quote::ToTokens;
use syn::{Attribute, Ident, LitStr, Path, Token, meta::ParseNestedMeta, parse::ParseStream};

use crate::paths::one_level_down;

/// Options that do not change how data are written.
const READS_ONLY: [&str; 7] = [
    "alias",
    "bound",
    "crate",
    "default",
    "deny_unknown_fields",
    "deserialize_with",
    "skip_deserializing",
];

pub(crate) fn options<'a>(
    attributes: impl IntoIterator<Item = &'a Attribute>,
    wanted: &[&str],
) -> Vec<Ident> {
    let all = attributes.into_iter().flat_map(|attribute| read(attribute).0);
    all.filter(|option| wanted.iter().any(|wanted| option == wanted)).collect()
}

/// The path in `#[serde(crate = "path")]`, from inside the machine's module; `None` for any other
/// attribute.
pub(super) fn root(attribute: &Attribute) -> Option<LitStr> {
    let read = |input: ParseStream<'_>| {
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        input.parse::<LitStr>()
    };
    let text = Some(attribute).filter(|attribute| attribute.path().is_ident("serde"));
    let text = text.and_then(|attribute| attribute.parse_args_with(read).ok())?;
    let path = text.parse_with(Path::parse_mod_style).ok()?;
    Some(LitStr::new(&one_level_down(path.to_token_stream()).to_string(), text.span()))
}

/// True if an attribute may change how data are written.
pub(crate) fn converts(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("serde") {
            let (options, is_whole) = read(attribute);
            let reads_only = |option: &Ident| READS_ONLY.iter().any(|known| option == known);
            return !is_whole || !options.iter().all(reads_only);
        }
        // Attributes of `serde_with` become attributes of serde.
        attribute.path().segments.iter().any(|segment| {
            segment.ident == "skip_serializing_none"
                || segment.ident.to_string().starts_with("serde")
        })
    })
}

/// The options of an attribute, and whether all could be read. Serde reports what it cannot read.
fn read(attribute: &Attribute) -> (Vec<Ident>, bool) {
    let mut options = Vec::new();
    if !attribute.path().is_ident("serde") {
        return (options, true);
    }
    let read = attribute.parse_nested_meta(|meta| {
        options.extend(meta.path.get_ident().cloned());
        skip_value(&meta)
    });
    (options, read.is_ok())
}

fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::token::Paren) {
        return meta.parse_nested_meta(|inner| skip_value(&inner));
    }
    if let Ok(value) = meta.value() {
        value.parse::<syn::Expr>()?;
    }
    Ok(())
}
