//! The enum that the method of a choice returns: a variant for each possible target.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::{self, Names};
use crate::{
    model::{Trigger, Way},
    text::bare,
};

pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let triggers = names.graph.triggers.iter().enumerate();
    let choices = triggers.filter_map(|(index, trigger)| {
        let ways = trigger.choice.as_deref()?;
        Some(one(names, (index, trigger), ways))
    });
    quote!(#(#choices)*)
}

fn one(names: &Names<'_>, (index, trigger): (usize, &Trigger<'_>), ways: &[Way]) -> TokenStream {
    let (name, any, state) = (names::after(trigger), names.any_type(), &names.state);
    let text = bare(trigger.name);
    let about = format!("The outcome of `{text}`.");
    let must_use = format!("`{text}` is a choice: the outcome holds the machine in its next state");
    let debug = names.debug().then(|| quote!(#[derive(Debug)]));
    let every = names.params.every();
    let same = trigger.may_stay();
    let extra = same.then(|| quote!(#state));
    let declared = names.params.define(extra.as_slice(), &every);
    let predicates = names.params.where_clause(&every);
    let variants = ways.iter().map(|way| match way {
        Way::To(to) => {
            let to = &names.graph.states[*to];
            let (name, docs, typed) = (to.name(), &to.written.docs, names.typed_in(to));
            quote!(#(#docs)* #name(#typed))
        }
        Way::Same => {
            let typed = names.typed_with(state);
            quote! {
                /// The machine stayed in its state.
                Same(#typed)
            }
        }
    });
    // One conversion for all states or, where the enum knows the state that was left, one for each.
    let moves = names.graph.moves_of(index);
    let mut sources: Vec<usize> =
        moves.map(|step| step.from).take(if same { usize::MAX } else { 1 }).collect();
    if names.stub {
        sources = vec![names.graph.initial];
    }
    let conversions = sources.into_iter().map(|from| {
        let from = &names.graph.states[from];
        let (generics, here) = if names.stub && same {
            (names.for_all_and_state(&quote!()).0, quote!(#state))
        } else {
            (names.for_all().0, names.state_type(from))
        };
        let after = names.after_type(trigger, &here);
        let arms = ways.iter().map(|way| {
            let to = match way {
                Way::To(to) => names.graph.states[*to].name(),
                Way::Same => from.name(),
            };
            let variant = names.graph.variant(*way);
            let any = &names.any;
            quote!(#name::#variant(machine) => #any::#to(machine))
        });
        quote! {
            impl #generics ::core::convert::From<#after> for #any #predicates {
                fn from(after: #after) -> Self {
                    match after { #(#arms),* }
                }
            }
        }
    });
    quote! {
        #[doc = #about]
        #[must_use = #must_use]
        #debug
        #[allow(missing_docs)]
        pub enum #name #declared #predicates {
            #(#variants),*
        }

        #(#conversions)*
    }
}
