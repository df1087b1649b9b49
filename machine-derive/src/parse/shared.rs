use std::rc::Rc;

use proc_macro2::TokenTree;
use syn::{Attribute, Ident, Token, Type, ext::IdentExt, parse::ParseStream};

use super::{Field, State, transition};
use crate::{errors::Errors, message, text::pascal, tokens::at_end};

/// `fields(name: Type, .., in = A | B)`: fields that several states have. A way of writing: each
/// state gets them in front of its own.
#[derive(Default)]
pub(crate) struct Fields {
    declared: Vec<Rc<Field>>,
    /// States and groups; every state if it is not given.
    within: Option<Vec<Ident>>,
    /// False if some of it could not be read, which was reported.
    is_whole: bool,
}

pub(crate) struct Shared {
    pub(crate) field: Rc<Field>,
    pub(crate) states: Vec<usize>,
}

impl Shared {
    /// `HasGoal`, the trait of the states that have it.
    pub(crate) fn trait_name(&self) -> String {
        format!("Has{}", pascal(&self.field.name))
    }
}

impl Fields {
    /// Reads what can be read, and reports the rest.
    pub(super) fn read(input: ParseStream<'_>, errors: &mut Errors) -> Self {
        let mut read = Self { is_whole: true, ..Self::default() };
        while !input.is_empty() {
            let (ahead, count) = (input.fork(), read.declared.len());
            if let Err(problem) = read.read_one(input, errors) {
                let ty = errors.at_type(problem.span(), message::malformed_fields(&problem));
                if read.declared.len() == count {
                    let _: syn::Result<()> = read.guess_one(&ahead, ty);
                }
                read.is_whole = false;
                while !at_end(input) && !input.peek(Token![in]) {
                    let _: syn::Result<TokenTree> = input.parse();
                }
                let _: syn::Result<Option<Token![,]>> = input.parse();
            }
        }
        if read.declared.is_empty() && read.is_whole {
            let problem = input.error("expected a field");
            errors.at(problem.span(), message::malformed_fields(&problem));
            read.is_whole = false;
        }
        read
    }

    /// Reads a field or `in = A | B`, and the comma behind it.
    fn read_one(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        if let Some(key) = input.parse::<Option<Token![in]>>()? {
            input.parse::<Token![=]>()?;
            let names = transition::names::<Ident>(input)?;
            if self.within.is_some() {
                errors.on(key, message::repeated_option(&"in"));
            }
            self.within.get_or_insert_default().extend(names);
        } else {
            let field = Field::read(syn::Field::parse_named(input)?, errors);
            self.declared.extend(field.map(Rc::new));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(())
    }

    /// Guesses what could not be read: `in`, however it is written, or a field, which gets this
    /// type.
    fn guess_one(&mut self, input: ParseStream<'_>, ty: Type) -> syn::Result<()> {
        input.call(Attribute::parse_outer)?;
        if input.peek(Token![in]) || input.peek2(Token![=]) {
            let within = self.within.get_or_insert_default();
            input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            within.extend(transition::names::<Ident>(input)?);
        } else {
            self.declared.push(Rc::new(Field::unread(input.parse()?, ty)));
        }
        Ok(())
    }
}

/// Gives each state its shared fields. Returns these, and `false` if some could not be read or a
/// name in them is unknown: some state may lack a field, and what follows from that is not to be
/// reported.
pub(super) fn give(
    written: &[Fields],
    states: &mut [State],
    errors: &mut Errors,
) -> (Vec<Shared>, bool) {
    let mut all: Vec<Shared> = Vec::new();
    let mut are_whole = true;
    for Fields { declared, within, is_whole } in written {
        let is_whole = is_whole & within.iter().all(|names| are_known(names, states, errors));
        are_whole &= is_whole;
        for field in declared {
            if all.iter().any(|other| other.field.name == field.name) {
                errors.on(&field.name, message::shared_twice(&field.name));
                continue;
            }
            let transitions = states.iter().flat_map(|state| &state.transitions);
            let mut items = transitions.flat_map(|transition| &transition.payload);
            let is_brought = items.any(|item| item.name == field.name);
            // After a mistake: the field is there from the start, or comes with a transition.
            let is_guessed = |state: &State| !is_whole && state.initial && !is_brought;
            let is_meant = |state: &State| {
                within.as_ref().is_none_or(|names| state.is_among(names) || is_guessed(state))
            };
            let members = (0..states.len()).filter(|index| is_meant(&states[*index])).collect();
            all.push(Shared { field: Rc::clone(field), states: members });
        }
    }
    for (index, state) in states.iter_mut().enumerate() {
        let shared = all.iter().filter(|shared| shared.states.contains(&index));
        let mut fields: Vec<_> = shared.map(|shared| Rc::clone(&shared.field)).collect();
        for own in state.fields.drain(..) {
            if fields.iter().any(|shared| shared.name == own.name) {
                if are_whole {
                    errors.on(&own.name, message::shared_and_own(&own.name, &state.name));
                }
            } else {
                fields.push(own);
            }
        }
        state.fields = fields;
    }
    (all, are_whole)
}

/// Reports the names that are neither a state nor a group, or are given twice.
pub(crate) fn are_known(names: &[Ident], states: &[State], errors: &mut Errors) -> bool {
    let mut are_known = true;
    let all = states.iter().map(|state| &state.name);
    let all: Vec<&Ident> = all.chain(states.iter().flat_map(|state| &state.groups)).collect();
    for (place, name) in names.iter().enumerate() {
        if !all.contains(&name) {
            errors.on(name, message::unknown_states(name, &all));
            are_known = false;
        } else if names[..place].contains(name) {
            errors.on(name, message::duplicate_payload(name));
        }
    }
    are_known
}
