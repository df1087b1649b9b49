use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Expr, Ident, LitStr, Path, Token, Type, parenthesized,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use super::{Audience, Branch, Target, keys, marks};
use crate::message;

const OPTIONS: [&str; 7] = ["by", "guard", "after", "at", "detach", "was", "from"];

/// `#[on(trigger(payload) => Target, by = A | B)]`.
pub(crate) struct Transition {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) trigger: Ident,
    pub(crate) payload: Vec<Item>,
    pub(crate) leads: Branch,
    /// The types of the actors; empty means anyone.
    pub(crate) by: Vec<Path>,
    pub(crate) guard: Option<Guard>,
    /// The deadline, counted from entering the state or the group, or a point in time.
    pub(crate) after: Option<Expr>,
    /// True if the deadline is a point in time.
    pub(crate) is_at: bool,
    /// It leaves also while the call of the state is under way.
    pub(crate) detach: Option<Ident>,
    pub(crate) was: Vec<LitStr>,
    /// The states and groups that it leaves, if it is declared on the enum.
    pub(crate) from: Vec<Ident>,
    /// All of it, where it could not be read.
    pub(crate) unread: TokenStream,
    /// Options that are given a second time.
    pub(super) repeated: Vec<Ident>,
}

/// `guard = path -> Error`: a function that looks at the source, and the type that it refuses with.
pub(crate) struct Guard {
    pub(crate) path: Path,
    pub(crate) error: Type,
}

pub(crate) struct Item {
    pub(crate) name: Ident,
    pub(crate) kind: ItemKind,
    pub(crate) was: Vec<LitStr>,
    /// Its audience; by default that of the field that it sets.
    pub(crate) audience: Option<Audience>,
}

pub(crate) enum ItemKind {
    /// `name`: a field of the target, brought by the caller.
    Field,
    /// `name: Type`: brought by the caller, kept in the journal only.
    Noted(Type),
    /// `name = expr`: a field of the target, computed.
    Computed(Expr),
}

impl Transition {
    fn new(trigger: Ident, payload: Vec<Item>, leads: Branch) -> Self {
        Self {
            docs: Vec::new(),
            trigger,
            payload,
            leads,
            by: Vec::new(),
            guard: None,
            after: None,
            is_at: false,
            detach: None,
            was: Vec::new(),
            from: Vec::new(),
            unread: TokenStream::new(),
            repeated: Vec::new(),
        }
    }

    pub(crate) fn expressions(&self) -> Vec<&Expr> {
        let computed = self.payload.iter().filter_map(|item| match &item.kind {
            ItemKind::Computed(value) => Some(value),
            ItemKind::Field | ItemKind::Noted(_) => None,
        });
        computed.chain(self.leads.expressions()).collect()
    }

    fn read_option(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        if key == "detach" {
            self.detach = Some(key.clone());
            return Ok(());
        }
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "by" => self.by = names(input)?,
            "guard" => self.guard = Some(read_guard(input)?),
            name @ ("after" | "at") => {
                let is_at = name == "at";
                if self.after.is_some() && self.is_at != is_at {
                    let problem = "a deadline is either `after = duration` or `at = time`";
                    return Err(syn::Error::new(key.span(), problem));
                }
                self.is_at = is_at;
                self.after = Some(input.parse()?);
            }
            "was" => self.was.push(keys::old_name(input)?),
            "from" => self.from = names(input)?,
            _ => return Err(message::unknown_key(key, &OPTIONS)),
        }
        Ok(())
    }
}

pub(super) fn read(attribute: &Attribute) -> syn::Result<Transition> {
    let transition: Transition = attribute.parse_args()?;
    match transition.from.first() {
        None => Ok(transition),
        Some(from) => {
            let problem = "`from` applies only to transitions that are declared on the machine";
            Err(syn::Error::new(from.span(), problem))
        }
    }
}

/// Guesses a transition that cannot be read: its payload if that much is right, the
/// next name as its target, and an actor if anything follows.
pub(super) fn guess(input: ParseStream<'_>, source: Option<&Ident>) -> syn::Result<Transition> {
    let unread = input.fork().parse()?;
    let trigger: Ident = input.parse()?;
    let mut payload = Vec::new();
    if input.peek(syn::token::Paren) {
        let items;
        parenthesized!(items in input);
        let items = without_attributes(items.parse()?);
        payload.extend(Punctuated::<Item, Token![,]>::parse_terminated.parse2(items)?);
    }
    let tokens: Vec<TokenTree> = input.parse::<TokenStream>()?.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    let mut parts = tokens.split(is_comma).map(|part| part.iter().cloned().collect());
    let idents = |part: TokenStream| {
        part.into_iter().filter_map(|token| match token {
            TokenTree::Ident(name) => Some(name),
            _ => None,
        })
    };
    let target = parts.next().and_then(|part| idents(part).next());
    let target = target.or_else(|| source.cloned()).unwrap_or_else(|| trigger.clone());
    let mut by = Vec::new();
    let mut guard = None;
    for part in parts {
        let mut names = idents(part.clone());
        match names.next() {
            Some(key) if key == "guard" => guard = Some(guess_guard(part)),
            Some(key)
                if matches!(key.to_string().as_str(), "after" | "at" | "was")
                    || is_like_from(&key) => {}
            Some(_) => by.extend(names.map(Path::from)),
            _ => {}
        }
    }
    let leads = Branch::To(Target::new(target));
    Ok(Transition { by, guard, unread, ..Transition::new(trigger, payload, leads) })
}

/// The items without `#[..]`, which may be what is wrong with them.
fn without_attributes(items: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = items.into_iter().collect();
    let is_hash = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
    let kept = tokens.iter().enumerate().filter(|(place, token)| {
        let attribute = matches!(token, TokenTree::Group(_))
            && is_hash(place.checked_sub(1).and_then(|before| tokens.get(before)));
        !attribute && !is_hash(Some(token))
    });
    kept.map(|(_, token)| token.clone()).collect()
}

/// True if a key was meant to be `from`; any other that is unknown may have been `by`.
fn is_like_from(key: &Ident) -> bool {
    key == "from" || message::nearest(key, OPTIONS) == Some("from")
}

/// A guard whose error may be missing; then it is taken for text.
fn guess_guard(part: TokenStream) -> Guard {
    let read = |input: ParseStream<'_>| {
        input.parse::<Ident>()?;
        input.parse::<Token![=]>()?;
        read_guard(input)
    };
    let text = || syn::parse_quote!(::std::string::String);
    let unknown = |_| Guard { path: syn::parse_quote!(unknown), error: text() };
    read.parse2(part).unwrap_or_else(unknown)
}

/// `A | B`: states, groups or both; or actors.
pub(super) fn names<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let names = Punctuated::<T, Token![|]>::parse_separated_nonempty(input)?;
    Ok(names.into_iter().collect())
}

fn read_guard(input: ParseStream<'_>) -> syn::Result<Guard> {
    let path: Path = input.parse()?;
    if !input.peek(Token![->]) {
        let problem = "the error type of the guard is missing";
        return Err(syn::Error::new_spanned(path, problem));
    }
    input.parse::<Token![->]>()?;
    Ok(Guard { path, error: input.parse()? })
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
        let mut transition = Self::new(trigger, payload, input.parse()?);
        transition.repeated = keys::read(input, |key| transition.read_option(key, input))?;
        Ok(transition)
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (was, audience) = marks::of_item(input)?;
        let name: Ident = input.parse()?;
        let kind = if input.parse::<Option<Token![:]>>()?.is_some() {
            ItemKind::Noted(input.parse()?)
        } else if input.parse::<Option<Token![=]>>()?.is_some() {
            ItemKind::Computed(input.parse()?)
        } else {
            ItemKind::Field
        };
        if audience.is_some() && matches!(kind, ItemKind::Computed(_)) {
            let problem = "a computed item is not recorded; put `#[audience(..)]` on the field that it \
                           sets";
            return Err(syn::Error::new(name.span(), problem));
        }
        Ok(Self { name, kind, was, audience })
    }
}
