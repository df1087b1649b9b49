use proc_macro2::Span;
use syn::{
    Expr, Ident, LitStr, Path, Token, Type,
    parse::{Parse, ParseStream},
};

use super::keys;
use crate::{message, role::Role};

/// `#[invoke(name: Tool = expr, done = trigger, failed = trigger)]`: the call that a state makes.
pub(crate) struct Invoke {
    pub(crate) name: Ident,
    /// The type of the tool; without it, that of the field of this name.
    pub(crate) tool: Option<Type>,
    /// True for `[Tool]`: a set of calls.
    pub(crate) is_set: bool,
    /// The arguments; without it, the field of this name.
    pub(crate) value: Option<Expr>,
    pub(crate) approve: Option<Approve>,
    /// How long the approval can be given.
    pub(crate) expires: Option<Expr>,
    pub(crate) within: Option<Expr>,
    /// The deliberate repetition that it is.
    pub(crate) occurrence: Option<Expr>,
    /// What it belongs to.
    pub(crate) session: Option<Expr>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) unattended: Option<Span>,
    /// Machines that entered the state before it made calls make them, too.
    pub(crate) adopt: bool,
    pub(crate) was: Vec<LitStr>,
    /// Options that are given a second time.
    pub(super) repeated: Vec<Ident>,
}

pub(crate) enum Approve {
    Always,
    /// `approve = path`: a function that looks at the arguments.
    If(Path),
}

/// `done = trigger`.
pub(crate) struct Outcome {
    pub(crate) role: Role,
    pub(crate) trigger: Ident,
}

const OPTIONS: [&str; 11] = [
    "done",
    "failed",
    "each",
    "approve",
    "expires",
    "within",
    "occurrence",
    "session",
    "unattended",
    "adopt",
    "was",
];

impl Invoke {
    pub(crate) fn takes(&self, trigger: &Ident) -> bool {
        self.outcomes.iter().any(|outcome| outcome.trigger == *trigger)
    }

    pub(crate) fn trigger(&self, role: Role) -> Option<&Ident> {
        let mut outcomes = self.outcomes.iter();
        outcomes.find(|outcome| outcome.role == role).map(|outcome| &outcome.trigger)
    }

    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let Self { value, expires, within, occurrence, session, .. } = self;
        [value, expires, within, occurrence, session].into_iter().flatten()
    }

    pub(crate) fn asks_if(&self) -> Option<&Path> {
        match &self.approve {
            Some(Approve::If(path)) => Some(path),
            Some(Approve::Always) | None => None,
        }
    }

    fn read_option(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "unattended" => self.unattended = Some(key.span()),
            "adopt" => self.adopt = true,
            "approve" if !input.peek(Token![=]) => self.approve = Some(Approve::Always),
            "approve" => self.approve = Some(Approve::If(keys::value(input)?)),
            "expires" => self.expires = Some(keys::value(input)?),
            "within" => self.within = Some(keys::value(input)?),
            "occurrence" => self.occurrence = Some(keys::value(input)?),
            "session" => self.session = Some(keys::value(input)?),
            "was" => {
                input.parse::<Token![=]>()?;
                self.was.push(keys::old_name(input)?);
            }
            name => {
                let role = Role::of(name).ok_or_else(|| message::unknown_key(key, &OPTIONS))?;
                self.outcomes.push(Outcome { role, trigger: keys::value(input)? });
            }
        }
        Ok(())
    }
}

impl Parse for Invoke {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let (mut tool, mut is_set) = (None, false);
        if input.parse::<Option<Token![:]>>()?.is_some() {
            tool = Some(match input.parse()? {
                Type::Slice(slice) => {
                    is_set = true;
                    *slice.elem
                }
                one => one,
            });
        }
        let value =
            if input.parse::<Option<Token![=]>>()?.is_some() { Some(input.parse()?) } else { None };
        let mut invoke = Self {
            name,
            tool,
            is_set,
            value,
            approve: None,
            expires: None,
            within: None,
            occurrence: None,
            session: None,
            outcomes: Vec::new(),
            unattended: None,
            adopt: false,
            was: Vec::new(),
            repeated: Vec::new(),
        };
        invoke.repeated = keys::read(input, |key| invoke.read_option(key, input))?;
        Ok(invoke)
    }
}
