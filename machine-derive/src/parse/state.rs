use syn::{Attribute, Field, Fields, Ident, Meta, Variant};

use super::{Transition, transition};
use crate::{errors::Errors, message};

/// A variant.
#[allow(clippy::struct_excessive_bools, reason = "each is a mark of its own")]
pub(crate) struct State {
    pub(crate) name: Ident,
    pub(crate) docs: Vec<Attribute>,
    /// Attributes that are not ours, such as `#[serde(..)]`.
    pub(crate) others: Vec<Attribute>,
    pub(crate) initial: bool,
    pub(crate) stable: bool,
    pub(crate) terminal: bool,
    pub(crate) fields: Vec<Field>,
    pub(crate) transitions: Vec<Transition>,
    /// What can be guessed of the transitions that cannot be read, for the stubs.
    pub(crate) unreadable: Vec<Transition>,
    /// Its fields have no names, so they are not in `fields`.
    pub(crate) unnamed: bool,
}

impl State {
    pub(super) fn read(variant: Variant, errors: &mut Errors) -> Self {
        let mut state = Self {
            name: variant.ident,
            docs: Vec::new(),
            others: Vec::new(),
            initial: false,
            stable: false,
            terminal: false,
            fields: Vec::new(),
            transitions: Vec::new(),
            unreadable: Vec::new(),
            unnamed: false,
        };
        if let Some((_, number)) = &variant.discriminant {
            errors.on(number, message::discriminant(&state.name));
        }
        match variant.fields {
            Fields::Unit => {}
            Fields::Named(named) => state.fields.extend(named.named),
            Fields::Unnamed(fields) => {
                errors.on(fields, message::tuple_state(&state.name));
                state.unnamed = true;
            }
        }
        for attribute in variant.attrs {
            let mut mark = |name: &str| {
                let ours = attribute.path().is_ident(name);
                if ours && !matches!(attribute.meta, Meta::Path(_)) {
                    errors.on(&attribute, message::malformed_mark(name));
                }
                ours
            };
            if mark("initial") {
                state.initial = true;
            } else if mark("stable") {
                state.stable = true;
            } else if mark("terminal") {
                state.terminal = true;
            } else if attribute.path().is_ident("on") {
                match transition::read(&attribute) {
                    Ok(transition) => state.transitions.push(transition),
                    Err(problem) => {
                        errors.at(problem.span(), message::malformed_on(&problem));
                        state.unreadable.extend(transition::guess(&attribute, &state.name));
                    }
                }
            } else if attribute.path().is_ident("doc") {
                state.docs.push(attribute);
            } else {
                state.others.push(attribute);
            }
        }
        state
    }
}
