use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Generics, Ident, ItemEnum, LitStr, Path, Type, Visibility, punctuated::Punctuated,
};

use super::{Options, Shared, State, Transition, serde, shared};
use crate::{errors::Errors, message};

pub(crate) struct Declaration {
    pub(crate) options: Options,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) docs: Vec<Attribute>,
    /// The user's derives, which each state and the events get.
    pub(crate) derives: Vec<Path>,
    /// The path of serde, where it has another one, from inside the machine's module.
    pub(crate) serde: Option<LitStr>,
    /// `#[non_exhaustive]`, which is for the enums that have a variant for each state or trigger.
    pub(crate) non_exhaustive: Option<Attribute>,
    /// Any other attribute, which is for the machine's module.
    pub(crate) others: Vec<Attribute>,
    /// At least one.
    pub(crate) states: Vec<State>,
    pub(crate) shared: Vec<Shared>,
    /// False if some states may lack shared fields, which was reported.
    pub(crate) is_whole: bool,
    /// The type of what cannot be known after a mistake.
    pub(crate) unknown: Type,
    /// The actor that takes the outcomes of calls.
    pub(crate) call: [Path; 1],
}

impl Declaration {
    /// Every transition that could be read, of single states and of several.
    pub(crate) fn transitions(&self) -> impl Iterator<Item = &Transition> {
        let of_several = self.options.from_several.iter().map(|(_, transition)| transition);
        self.states.iter().flat_map(|state| &state.transitions).chain(of_several)
    }

    /// Every transition, with guesses for those that could not be read.
    pub(crate) fn all_transitions(&self) -> impl Iterator<Item = &Transition> {
        let of_several = self.options.from_several.iter().map(|(_, transition)| transition);
        let of_states = self.states.iter();
        let all = of_states.flat_map(|state| state.transitions.iter().chain(&state.unreadable));
        all.chain(of_several).chain(&self.options.unreadable)
    }

    /// True if the enum, a state or a field is deprecated.
    pub(crate) fn has_deprecated(&self) -> bool {
        let of_states = self.states.iter().flat_map(|state| {
            state.others.iter().chain(state.fields.iter().flat_map(|field| &field.attrs))
        });
        self.others.iter().chain(of_states).any(|it| it.path().is_ident("deprecated"))
    }
}

/// Attributes that mean the same on the machine's module as on the enum.
const ON_MODULES: [&str; 7] = ["allow", "expect", "warn", "deny", "cfg", "cfg_attr", "deprecated"];

/// Reads the declaration; `None` when there is nothing to go on with.
pub(crate) fn declaration(
    options: TokenStream,
    item: TokenStream,
    errors: &mut Errors,
) -> Option<Declaration> {
    let options = Options::parse(options, errors);
    let item: ItemEnum = match syn::parse2(item.clone()) {
        Ok(item) => item,
        Err(problem) => {
            let is_enum = |token| matches!(token, TokenTree::Ident(word) if word == "enum");
            if item.clone().into_iter().any(is_enum) {
                errors.at(problem.span(), message::malformed_enum(&problem));
            } else {
                errors.on(item, message::not_an_enum(&problem));
            }
            return None;
        }
    };
    let (mut docs, mut derives, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let (mut serde, mut non_exhaustive) = (None, None);
    for attribute in item.attrs {
        let path = attribute.path();
        if path.is_ident("doc") {
            docs.push(attribute);
        } else if path.is_ident("derive") {
            match attribute.parse_args_with(Punctuated::<Path, syn::Token![,]>::parse_terminated) {
                Ok(paths) => derives.extend(paths),
                // Rustc explains a malformed derive.
                Err(_) => others.push(attribute),
            }
        } else if let Some(root) = serde::root(&attribute) {
            serde = Some(root);
        } else if path.is_ident("non_exhaustive") {
            non_exhaustive = Some(attribute);
        } else if ON_MODULES.iter().any(|known| path.is_ident(known)) {
            others.push(attribute);
        } else {
            errors.on(&attribute, message::misplaced_attribute(path));
        }
    }
    let states = item.variants.into_iter().map(|variant| State::read(variant, errors));
    let mut states: Vec<State> = states.collect();
    if states.is_empty() {
        errors.on(&item.ident, message::no_states());
        states.push(State::read(syn::parse_quote! { #[initial] Idle }, errors));
    }
    let (shared, is_whole) = shared::give(&options.fields, &mut states, errors);
    Some(Declaration {
        shared,
        is_whole,
        options,
        vis: item.vis,
        name: item.ident,
        generics: item.generics,
        docs,
        derives,
        serde,
        non_exhaustive,
        others,
        states,
        unknown: syn::parse_quote!(()),
        call: [syn::parse_quote!(__machine::actor::Call)],
    })
}
