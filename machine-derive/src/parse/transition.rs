use syn::{
    Attribute, Expr, Ident, Path, Token, Type, parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// `#[on(trigger(payload) => Target, by = A | B)]`.
pub(crate) struct Transition {
    pub(crate) trigger: Ident,
    pub(crate) payload: Vec<Item>,
    pub(crate) target: Ident,
    /// The types of the actors; empty means anyone.
    pub(crate) by: Vec<Path>,
}

/// One item of a payload.
pub(crate) enum Item {
    /// `name`: a field of the target, brought by the caller.
    Field(Ident),
    /// `name: Type`: brought by the caller, kept in the journal only.
    Noted(Ident, Type),
    /// `name = expr`: a field of the target, computed from the fields of the source.
    Computed(Ident, Expr),
}

impl Item {
    pub(crate) fn name(&self) -> &Ident {
        match self {
            Self::Field(name) | Self::Noted(name, _) | Self::Computed(name, _) => name,
        }
    }
}

pub(super) fn read(attribute: &Attribute) -> syn::Result<Transition> {
    attribute.parse_args()
}

impl Parse for Transition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let trigger = input.parse()?;
        let mut payload = Vec::new();
        if input.peek(syn::token::Paren) {
            let items;
            parenthesized!(items in input);
            payload.extend(Punctuated::<Item, Token![,]>::parse_terminated(&items)?);
        }
        input.parse::<Token![=>]>()?;
        let target = input.parse()?;
        let mut by = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key: Ident = input.parse()?;
            if key != "by" {
                return Err(syn::Error::new(key.span(), format!("unknown option `{key}`")));
            }
            input.parse::<Token![=]>()?;
            by.extend(Punctuated::<Path, Token![|]>::parse_separated_nonempty(input)?);
        }
        Ok(Self { trigger, payload, target, by })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            Ok(Self::Noted(name, input.parse()?))
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Ok(Self::Computed(name, input.parse()?))
        } else {
            Ok(Self::Field(name))
        }
    }
}
