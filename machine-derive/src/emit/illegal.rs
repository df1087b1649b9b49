use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    names::{self, Names},
    transitions,
};
use crate::model::{Graph, State, Trigger, bare};

/// How many illegal moves a machine may have for each to get a message of its own.
const MOST: usize = 150;

/// A hidden method per illegal move, whose bound cannot hold and whose trait says what is legal.
///
/// The bound stands on the method, and the `for<..>` keeps the definition itself from failing. It
/// returns what the caller expected, so that one mistake makes one error. A trait serves one move,
/// because its text must name the trigger, and a type's name would come with its whole path; the
/// moves out of a terminal state share one, whose text need not.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    // They grow with the product of states and triggers, and a build must not. Beyond this, rustc
    // says which states have the method, which is good enough.
    if graph.states.len() * graph.triggers.len() - graph.moves.len() > MOST {
        return TokenStream::new();
    }
    let mut traits = TokenStream::new();
    let mut impls = TokenStream::new();
    let mut bounds = BTreeSet::new();
    for (index, state) in graph.states.iter().enumerate() {
        let illegal: Vec<(usize, &Trigger<'_>)> = graph
            .triggers
            .iter()
            .enumerate()
            .filter(|(trigger, _)| graph.leaving(index).all(|step| step.trigger != *trigger))
            .collect();
        if illegal.is_empty() {
            continue;
        }
        let label = &state.label;
        if state.written.terminal {
            traits.extend(illegal_trait(
                &leave(state),
                &format!("{label} is terminal: nothing leaves it"),
                "begin a new machine instead",
            ));
        }
        let mut stubs = TokenStream::new();
        for (trigger_index, trigger) in illegal {
            let bound = if state.written.terminal {
                leave(state)
            } else {
                let mut bound = format_ident!("{}In{}", names::event(trigger), state.name());
                // Two that read the same, such as `check` in `InTransit`, `check_in` in `Transit`.
                if !bounds.insert(bound.to_string()) {
                    bound = format_ident!("{}{}", bound, index);
                }
                let message = format!("{label} cannot `{}`", bare(trigger.name));
                traits.extend(illegal_trait(&bound, &message, &graph.legal_moves(index)));
                bound
            };
            stubs.extend(stub(graph, names, state, trigger_index, &bound));
        }
        let typed = names.typed_in(state);
        let (generics, predicates) = names.for_all();
        impls.extend(quote!(impl #generics #typed #predicates { #stubs }));
    }
    quote! {
        // Rustc names the trait of a bound that does not hold, so these names are to be read.
        mod illegal {
            pub enum Nobody {}
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

        // Without this, rustc would advise to write one.
        #[diagnostic::do_not_recommend]
        impl #name for Nobody {}
    }
}

fn stub(
    graph: &Graph<'_>,
    names: &Names<'_>,
    state: &State<'_>,
    index: usize,
    bound: &Ident,
) -> TokenStream {
    let trigger = &graph.triggers[index];
    // A known trigger has at least one move.
    let Some(step) = graph.moves.iter().find(|step| step.trigger == index) else {
        return TokenStream::new();
    };
    let name = trigger.name;
    // What a trigger returns is the same from every state.
    let next = transitions::result(graph, names, step, &quote!(Self), &names.state_type(state));
    let types = trigger.brought.iter().map(|brought| brought.ty);
    // Where some state lets anyone, the caller may not bring an actor, and need not.
    let mut moves = graph.moves.iter().filter(|step| step.trigger == index);
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

fn leave(state: &State<'_>) -> Ident {
    format_ident!("Leave{}", state.name())
}
