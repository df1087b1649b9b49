use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    names::{self, Names},
    transitions,
};
use crate::{model::State, text::bare};

/// The maximum number of illegal moves for which each gets its own message.
const MAX_STUBS: usize = 150;

/// One hidden method per illegal move. Its bound never holds, and the trait of the bound says what
/// is legal.
///
/// The bound is on the method, and the `for<..>` keeps the definition itself from failing. The
/// method returns the type that the caller expects, so that one mistake makes one error. There is
/// one trait per move, because the message must name the trigger, and a type parameter would be
/// shown with its full path. The moves out of a terminal state share one trait: its message does
/// not name the trigger.
///
/// An editor does not see them, so that it offers only legal moves.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    // Their number grows with states times triggers, and the build time must not. Above the limit,
    // rustc names the states that have the method, which is good enough.
    if names.graph.states.len() * names.graph.triggers.len() - names.graph.moves.len() > MAX_STUBS {
        return TokenStream::new();
    }
    let mut traits = TokenStream::new();
    let mut impls = TokenStream::new();
    let mut bounds = BTreeSet::new();
    let (generics, predicates) = names.for_all();
    for (index, state) in names.graph.states.iter().enumerate() {
        let is_legal = |trigger| names.graph.leaving(index).any(|step| step.trigger == trigger);
        let illegal = (0..names.graph.triggers.len()).filter(|trigger| !is_legal(*trigger));
        let (label, leave) = (&state.label, format_ident!("Leave{}", state.name()));
        let mut methods = TokenStream::new();
        for trigger in illegal {
            let mut bound = leave.clone();
            if !state.written.terminal {
                let trigger = &names.graph.triggers[trigger];
                bound = format_ident!("{}In{}", names::event(trigger), state.name());
                // Names can collide: `check` in `InTransit` and `check_in` in `Transit`.
                if !bounds.insert(bound.to_string()) {
                    bound = format_ident!("{}{}", bound, index);
                }
                let message = format!("{label} cannot `{}`", bare(trigger.name));
                traits.extend(illegal_trait(&bound, &message, &names.graph.legal_moves(index)));
            }
            methods.extend(method(names, state, trigger, &bound));
        }
        if methods.is_empty() {
            continue;
        }
        if state.written.terminal {
            let message = format!("{label} is terminal: nothing leaves it");
            traits.extend(illegal_trait(&leave, &message, "create a new machine instead"));
        }
        let typed = names.typed_in(state);
        impls.extend(quote!(impl #generics #typed #predicates { #methods }));
    }
    quote! {
        __machine::__private::refusals! {
            // Rustc shows the trait of a bound that does not hold, so these names must be readable.
            mod illegal {
                pub enum Never {}
                #traits
            }
            #impls
        }
    }
}

fn illegal_trait(name: &Ident, message: &str, label: &str) -> TokenStream {
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        pub trait #name {}

        // Without this, rustc would suggest implementing the trait.
        #[diagnostic::do_not_recommend]
        impl #name for Never {}
    }
}

fn method(names: &Names<'_>, state: &State<'_>, index: usize, bound: &Ident) -> TokenStream {
    let trigger = &names.graph.triggers[index];
    // A known trigger has at least one move.
    let Some(step) = names.graph.moves_of(index).next() else { return TokenStream::new() };
    let name = trigger.name;
    // A trigger returns the same type from every state.
    let next = transitions::result(names, step, &quote!(Self), &names.state_type(state));
    let types = trigger.brought.iter().map(|brought| brought.ty);
    // If some state allows any actor, the method takes no actor argument.
    let mut moves = names.graph.moves_of(index);
    let restricted = moves.all(|step| !step.by.is_empty());
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
