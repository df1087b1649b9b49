use syn::{
    LitInt, Path, Token,
    parse::{Parse, ParseStream},
};

/// `1 => path`: the function from data of version 1 to data of version 2.
pub(crate) struct Upgrade {
    pub(crate) number: LitInt,
    /// The number as a value.
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
