use proc_macro2::TokenStream;
use quote::quote;

use super::names::{self, Names};
use crate::text::bare;

/// One trait per restricted trigger, implemented for the actors that may use it.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let restricted = names
        .graph
        .triggers
        .iter()
        .enumerate()
        .filter(|(index, _)| names.graph.is_restricted(*index));
    let actors = names.graph.actors();
    // The journal takes the actor's name from the table. Only the table requires `Actor`, so that
    // one mistake makes one error.
    let (kind_type, who_method) = if names.durable {
        let method = quote! {
            #[doc(hidden)]
            fn __who(&self) -> __machine::__private::Who<'_>;
        };
        (quote!((pub &'static str)), method)
    } else {
        (quote!(), quote!())
    };
    let traits = restricted.map(|(index, trigger)| {
        let may = names::may(trigger);
        let name = bare(trigger.name);
        let moves = || {
            let moves = names.graph.moves.iter().filter(move |step| step.trigger == index);
            moves.filter(|step| !step.written.by.is_empty())
        };
        let who: Vec<String> = moves()
            .map(|step| {
                let who: Vec<String> = step.written.by.iter().map(names::path_text).collect();
                format!("from {}: {}", names.graph.states[step.from].label, who.join(", "))
            })
            .collect();
        let message = format!("`{{Self}}` may not `{name}`");
        let label = "this actor may not";
        let note = format!("only these actors may `{name}`: {}", who.join("; "));
        let about = format!("Actors that may `{name}`, by source state.");
        let mut groups = Vec::new();
        let impls = moves().flat_map(|step| {
            let of_group = match names.graph.group_of(step) {
                // One impl for the whole group, so that code generic over its states can use it.
                Some(group) if groups.contains(&group) => return Vec::new(),
                Some(group) => {
                    groups.push(group);
                    Some(group)
                }
                None => None,
            };
            let rows = step.written.by.iter().map(|actor| {
                let place = actors.iter().position(|known| *known == actor).map(names::index);
                let kind = names
                    .durable
                    .then(|| quote!((__machine::__private::rows::kind_of(DEFINITION, #place))));
                let (generics, from, predicates) = if let Some(group) = of_group {
                    let from = names::free_in(&quote!(#group #actor));
                    (quote!(<#from: #group>), quote!(#from), quote!())
                } else {
                    let state = &names.graph.states[step.from];
                    let used = names.used_by(state);
                    let generics = names.params.declare(&[], &used);
                    (generics, names.state_type(state), names.params.where_clause(&used))
                };
                let who = names.durable.then(|| {
                    quote! {
                        fn __who(&self) -> __machine::__private::Who<'_> {
                            #[allow(unused_imports)]
                            use __machine::__private::Unnamed as _;
                            let kind = <Self as #may<#from>>::__ROW.0;
                            __machine::__private::Named(self).who(kind)
                        }
                    }
                });
                quote! {
                    impl #generics #may<#from> for #actor #predicates {
                        const __ROW: __sealed::Row = __sealed::Row #kind;
                        #who
                    }
                }
            });
            rows.collect::<Vec<TokenStream>>()
        });
        quote! {
            #[doc = #about]
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            pub trait #may<From> {
                #[doc(hidden)]
                const __ROW: __sealed::Row;
                #who_method
            }
            #(#impls)*
        }
    });
    let asked =
        names.graph.groups().iter().any(|(group, _)| !names.graph.triggers_of(group).is_empty());
    let asked = asked.then(|| {
        quote! {
            // Only the generated methods can make one, after they checked the actor.
            pub struct Asked(pub(super) ());
        }
    });
    quote! {
        // Seals the traits: other code cannot name the type that an implementation needs.
        mod __sealed {
            pub struct Row #kind_type;
            #asked
        }
        #(#traits)*
    }
}
