use proc_macro2::TokenStream;
use quote::quote;

use super::names::{self, Names};
use crate::model::{Graph, bare};

/// A trait per restricted trigger, implemented for those who may.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let restricted =
        graph.triggers.iter().enumerate().filter(|(index, _)| graph.is_restricted(*index));
    let traits = restricted.map(|(index, trigger)| {
        let may = names::may(trigger);
        let name = bare(trigger.name);
        let moves = || {
            let moves = graph.moves.iter().filter(move |step| step.trigger == index);
            moves.filter(|step| !step.by.is_empty())
        };
        let who: Vec<String> = moves()
            .map(|step| {
                let who: Vec<String> = step.by.iter().map(names::path_text).collect();
                format!("from {}: {}", graph.states[step.from].label, who.join(", "))
            })
            .collect();
        let message = format!("`{{Self}}` may not `{name}`");
        let label = "this actor may not";
        let note = format!("`{name}` is for these actors: {}", who.join("; "));
        let about = format!("Who may `{name}`, by the state that is left.");
        let impls = moves().flat_map(|step| {
            let state = &graph.states[step.from];
            let from = names.state_type(state);
            let used = names.used_by(state);
            let generics = names.params.declare(&[], &used);
            let predicates = names.params.where_clause(&used);
            let impls: Vec<TokenStream> = step
                .by
                .iter()
                .map(|actor| {
                    quote! {
                        impl #generics #may<#from> for #actor #predicates {
                            const __ROW: sealed::Row = sealed::Row;
                        }
                    }
                })
                .collect();
            impls
        });
        quote! {
            #[doc = #about]
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            pub trait #may<From>: __machine::actor::Actor {
                #[doc(hidden)]
                const __ROW: sealed::Row;
            }
            #(#impls)*
        }
    });
    quote! {
        // Only the table lets somebody in: nobody else can name what an implementation needs.
        mod sealed {
            pub struct Row;
        }
        #(#traits)*
    }
}
