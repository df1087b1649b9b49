use std::rc::Rc;

use syn::{
    Attribute, Fields, Ident, LitStr, Meta, Token, Type, Variant, parse::ParseStream,
    punctuated::Punctuated,
};

use super::{
    Audience, Invoke, Transition, Upgrade,
    marks::{self, Mark},
    serde, transition,
};
use crate::{errors::Errors, message};

#[allow(clippy::struct_excessive_bools, reason = "each is a separate mark")]
pub(crate) struct State {
    pub(crate) name: Ident,
    pub(crate) docs: Vec<Attribute>,
    /// Attributes that are not ours, such as `#[serde(..)]`.
    pub(crate) others: Vec<Attribute>,
    pub(crate) initial: bool,
    pub(crate) stable: bool,
    pub(crate) terminal: bool,
    pub(crate) groups: Vec<Ident>,
    /// Every path into this state passes one of these.
    pub(crate) only_after: Vec<Vec<Ident>>,
    /// Shared ones belong to several states.
    pub(crate) fields: Vec<Rc<Field>>,
    pub(crate) was: Vec<LitStr>,
    pub(crate) upgrades: Vec<Upgrade>,
    pub(crate) invoke: Option<Invoke>,
    pub(crate) transitions: Vec<Transition>,
    /// Guesses for malformed transitions, for the stubs.
    pub(crate) unreadable: Vec<Transition>,
    /// Its fields have no names, so they are not in `fields`.
    pub(crate) unnamed: bool,
}

pub(crate) struct Field {
    /// Attributes that are not ours, such as `#[serde(..)]`.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) optional: Optional,
    pub(crate) audience: Audience,
    /// It may be read back as another value than was written.
    pub(crate) lossy: bool,
    pub(crate) was: Vec<LitStr>,
}

impl Field {
    /// `None` for a field without a name, which named fields are not.
    pub(super) fn read(field: syn::Field, errors: &mut Errors) -> Option<Self> {
        let mut attrs = field.attrs;
        attrs.retain(|attribute| {
            let mark = marks::mark(attribute, &marks::ON_FIELDS, errors);
            let ours = matches!(mark, Mark::Ours(name) if attribute.path().is_ident(name));
            ours || matches!(mark, Mark::Foreign)
        });
        let was = marks::take_was(&mut attrs, errors);
        let audience = marks::take_audience(&mut attrs, errors);
        let mut lossy = false;
        for mark in attrs.extract_if(.., |attribute| attribute.path().is_ident("lossy")) {
            once(&mut lossy, "lossy", &mark, errors);
        }
        let has = |options: &[&str]| !serde::options(&attrs, options).is_empty();
        let optional = if has(&["default", "skip"]) {
            Optional::Always
        } else if has(&["with", "deserialize_with"]) {
            Optional::Never
        } else {
            Optional::of(&field.ty)
        };
        Some(Self { attrs, name: field.ident?, ty: field.ty, optional, audience, lossy, was })
    }

    /// A field of which only the name could be read.
    pub(super) fn unread(name: Ident, ty: Type) -> Self {
        let (attrs, was, audience) = (Vec::new(), Vec::new(), Audience::default());
        Self { attrs, name, ty, optional: Optional::Always, audience, lossy: false, was }
    }
}

/// Whether data without a field, or an item, can be read.
#[derive(Clone, Copy)]
pub(crate) enum Optional {
    Never,
    Always,
    /// If the type, which is called `Option`, is that of the standard library: serde reads it as
    /// `None`.
    IfOption,
}

impl Optional {
    /// By its type alone.
    pub(crate) fn of(ty: &Type) -> Self {
        let path = match ty {
            // A `$t:ty` from a `macro_rules` macro is in an invisible group.
            Type::Group(group) => return Self::of(&group.elem),
            Type::Paren(paren) => return Self::of(&paren.elem),
            Type::Path(path) => path,
            _ => return Self::Never,
        };
        match path.path.segments.last() {
            Some(last) if path.qself.is_none() && last.ident == "Option" => Self::IfOption,
            _ => Self::Never,
        }
    }
}

impl State {
    pub(crate) fn field_names(&self) -> Vec<&Ident> {
        self.fields.iter().map(|field| &field.name).collect()
    }

    pub(crate) fn field(&self, name: &Ident) -> Option<&Field> {
        self.fields.iter().map(Rc::as_ref).find(|field| field.name == *name)
    }

    /// True if the state or one of its groups has this name.
    pub(crate) fn is_called(&self, name: &Ident) -> bool {
        self.name == *name || self.groups.contains(name)
    }

    /// True if the state or one of its groups has one of these names.
    pub(crate) fn is_among(&self, names: &[Ident]) -> bool {
        names.iter().any(|name| self.is_called(name))
    }

    pub(super) fn read(variant: Variant, errors: &mut Errors) -> Self {
        let mut state = Self {
            name: variant.ident,
            docs: Vec::new(),
            others: Vec::new(),
            initial: false,
            stable: false,
            terminal: false,
            groups: Vec::new(),
            only_after: Vec::new(),
            fields: Vec::new(),
            was: Vec::new(),
            upgrades: Vec::new(),
            invoke: None,
            transitions: Vec::new(),
            unreadable: Vec::new(),
            unnamed: false,
        };
        if let Some((_, number)) = &variant.discriminant {
            errors.on(number, message::discriminant(&state.name));
        }
        match variant.fields {
            Fields::Unit => {}
            Fields::Named(named) => {
                let fields = named.named.into_iter();
                let fields = fields.filter_map(|field| Field::read(field, errors));
                state.fields.extend(fields.map(Rc::new));
            }
            Fields::Unnamed(fields) => {
                errors.on(fields, message::tuple_state(&state.name));
                state.unnamed = true;
            }
        }
        let mut attributes = variant.attrs;
        state.was = marks::take_was(&mut attributes, errors);
        // After another attribute, docs are those of the transition below them, if there is one.
        let mut docs_below: Option<Vec<Attribute>> = None;
        for attribute in attributes {
            if attribute.path().is_ident("doc") {
                docs_below.as_mut().unwrap_or(&mut state.docs).push(attribute);
                continue;
            }
            let docs = docs_below.replace(Vec::new()).unwrap_or_default();
            let mark = marks::mark(&attribute, &marks::ON_STATES, errors);
            if matches!(mark, Mark::Ours("on")) {
                state.take_transition(docs, &attribute, errors);
                continue;
            }
            state.docs.extend(docs);
            match mark {
                Mark::Ours(name) => state.take(name, &attribute, errors),
                Mark::Misplaced => {}
                Mark::Foreign => state.others.push(attribute),
            }
        }
        state.docs.extend(docs_below.into_iter().flatten());
        state
    }

    fn take_transition(
        &mut self,
        docs: Vec<Attribute>,
        attribute: &Attribute,
        errors: &mut Errors,
    ) {
        let read = transition::read(attribute);
        if let Some(mut transition) = errors.read(read, message::malformed_on) {
            errors.repeated(&transition.repeated);
            transition.docs = docs;
            self.transitions.push(transition);
        } else {
            let guess = |input: ParseStream<'_>| transition::guess(input, Some(&self.name));
            self.unreadable.extend(attribute.parse_args_with(guess));
        }
    }

    /// Reads one of our other attributes, which is called `name` even where it is misspelt.
    fn take(&mut self, name: &'static str, attribute: &Attribute, errors: &mut Errors) {
        match name {
            "initial" => once(&mut self.initial, name, attribute, errors),
            "stable" => once(&mut self.stable, name, attribute, errors),
            "terminal" => once(&mut self.terminal, name, attribute, errors),
            "invoke" => match attribute.parse_args::<Invoke>() {
                Ok(_) if self.invoke.is_some() => {
                    errors.on(attribute, message::repeated_option(&name));
                }
                Ok(invoke) => {
                    errors.repeated(&invoke.repeated);
                    self.invoke = Some(invoke);
                }
                Err(problem) => errors.at(problem.span(), message::malformed_invoke(&problem)),
            },
            "upgrade" => {
                let list = Punctuated::<Upgrade, Token![,]>::parse_terminated;
                let read = errors.read(attribute.parse_args_with(list), message::malformed_upgrade);
                self.upgrades.extend(read.into_iter().flatten());
            }
            // `was` was taken; a misspelt one is only reported.
            "was" => {}
            // `#[group(A)]`, `#[only_after(A | B)]`.
            mark => match attribute.parse_args_with(transition::names::<Ident>) {
                Ok(names) if mark == "group" => self.groups.extend(names),
                Ok(names) => self.only_after.push(names),
                Err(_) => errors.on(attribute, message::malformed_names(mark)),
            },
        }
    }
}

fn once(given: &mut bool, name: &'static str, attribute: &Attribute, errors: &mut Errors) {
    if !matches!(attribute.meta, Meta::Path(_)) {
        errors.on(attribute, message::malformed_mark(name));
    }
    if std::mem::replace(given, true) {
        errors.on(attribute, message::repeated_option(&name));
    }
}
