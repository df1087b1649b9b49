use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    names::{self, Names},
    transitions,
};
use crate::{
    model::{State, Trigger},
    text::bare,
};

/// The maximum number of illegal moves for which each gets its own message.
const MOST: usize = 150;

/// One hidden method per illegal move. Its bound never holds, and the trait of the bound says what
/// is legal.
///
/// The bound is on the method, and the `for<..>` keeps the definition itself from failing. The
/// method returns the type that the caller expects, so that one mistake makes one error. There is
/// one trait per move, because the message must name the trigger, and a type parameter would be
/// shown with its full path. The moves out of a terminal state share one trait: its message does
/// not name the trigger.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    // Their number grows with states times triggers, and the build time must not. Above the limit,
    // rustc names the states that have the method, which is good enough.
    if names.graph.states.len() * names.graph.triggers.len() - names.graph.moves.len() > MOST {
        return TokenStream::new();
    }
    let mut traits = TokenStream::new();
    let mut impls = TokenStream::new();
    let mut bounds = BTreeSet::new();
    for (index, state) in names.graph.states.iter().enumerate() {
        let illegal: Vec<(usize, &Trigger<'_>)> = names
            .graph
            .triggers
            .iter()
            .enumerate()
            .filter(|(trigger, _)| names.graph.leaving(index).all(|step| step.trigger != *trigger))
            .collect();
        if illegal.is_empty() {
            continue;
        }
        let label = &state.label;
        if state.written.terminal {
            traits.extend(illegal_trait(
                &leave(state),
                &format!("{label} is terminal: nothing leaves it"),
                "create a new machine instead",
            ));
        }
        let mut stubs = TokenStream::new();
        for (trigger_index, trigger) in illegal {
            let bound = if state.written.terminal {
                leave(state)
            } else {
                let mut bound = format_ident!("{}In{}", names::event(trigger), state.name());
                // Names can collide: `check` in `InTransit` and `check_in` in `Transit`.
                if !bounds.insert(bound.to_string()) {
                    bound = format_ident!("{}{}", bound, index);
                }
                let message = format!("{label} cannot `{}`", bare(trigger.name));
                traits.extend(illegal_trait(&bound, &message, &names.graph.legal_moves(index)));
                bound
            };
            stubs.extend(stub(names, state, trigger_index, &bound));
        }
        let typed = names.typed_in(state);
        let (generics, predicates) = names.for_all();
        impls.extend(quote!(impl #generics #typed #predicates { #stubs }));
    }
    quote! {
        // Rustc shows the trait of a bound that does not hold, so these names must be readable.
        mod illegal {
            pub enum Never {}
            #traits
        }
        #impls
    }
}

fn illegal_trait(name: &Ident, message: &str, label: &str) -> TokenStream {
    quote! {
        #[diagnostic::on_unimplemented(
            message = #message,
            label = #label
        )]
        pub trait #name {}

        // Without this, rustc would suggest implementing the trait.
        #[diagnostic::do_not_recommend]
        impl #name for Never {}
    }
}

fn stub(names: &Names<'_>, state: &State<'_>, index: usize, bound: &Ident) -> TokenStream {
    let trigger = &names.graph.triggers[index];
    // A known trigger has at least one move.
    let Some(step) = names.graph.moves_of(index).next() else {
        return TokenStream::new();
    };
    let name = trigger.name;
    // A trigger returns the same type from every state.
    let next = transitions::result(names, step, &quote!(Self), &names.state_type(state));
    let types = trigger.brought.iter().map(|brought| brought.ty);
    // If some state allows any actor, the method takes no actor argument.
    let mut moves = names.graph.moves_of(index);
    let restricted = moves.all(|step| !step.written.by.is_empty());
    let by = restricted.then(|| quote!(_: &impl ::core::marker::Sized));
    quote! {
        #[doc(hidden)]
        pub fn #name(self, #(_: #types,)* #by) -> #next
        where
            for<'__> Self: illegal::#bound,
        {
            loop {}
        }
    }
}

fn leave(state: &State<'_>) -> Ident {
    format_ident!("Leave{}", state.name())
}
