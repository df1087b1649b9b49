use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Path;

use super::names::{self, Names};
use crate::{
    model::{Move, Trigger},
    text::bare,
};

/// One trait per restricted trigger, implemented for the actors that may use it.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let graph = names.graph;
    let triggers = graph.triggers.iter().enumerate();
    let restricted = triggers.filter(|(index, _)| graph.is_restricted(*index));
    let traits = restricted.map(|(index, trigger)| permission(names, index, trigger));
    // The journal takes the actor's name from the table. Only the table requires `Actor`, so that
    // one mistake makes one error.
    let kind = names.durable.then(|| quote!((pub &'static str)));
    let asked = graph.groups().iter().any(|(group, _)| !graph.triggers_of(group).is_empty());
    let asked = asked.then(|| {
        quote! {
            // Only the generated methods can make one, after they checked the actor.
            pub struct Asked(pub(super) ());
        }
    });
    quote! {
        // Seals the traits: other code cannot name the type that an implementation needs.
        mod __sealed {
            pub struct Row #kind;
            pub trait State {}
            #asked
        }
        #(#traits)*
    }
}

fn permission(names: &Names<'_>, index: usize, trigger: &Trigger<'_>) -> TokenStream {
    let (may, name) = (names::may(trigger), bare(trigger.name));
    let (mut actors, mut groups, mut impls) = (Vec::new(), Vec::new(), Vec::new());
    for step in names.graph.moves_of(index).filter(|step| !step.by.is_empty()) {
        let by: Vec<String> = step.by.iter().map(names::path_text).collect();
        actors.push(format!("from {}: {}", names.source(step).label, by.join(", ")));
        // One impl for the whole group, so that code generic over its states can use it.
        let group = names.graph.group_of(step);
        if group.is_none_or(|group| !groups.contains(&group)) {
            groups.extend(group);
            impls.extend(
                step.by.iter().map(|actor| implementation(names, &may, step, group, actor)),
            );
        }
    }
    let message = format!("`{{Self}}` may not `{name}`");
    let note = if names.graph.takes_an_outcome(trigger.name) {
        format!("only the call whose outcome it takes may `{name}`")
    } else {
        format!("only these actors may `{name}`: {}", actors.join("; "))
    };
    let about = format!("Actors that may `{name}`, by source state.");
    let who = names.durable.then(|| {
        quote! {
            #[doc(hidden)]
            fn __who(&self) -> __machine::__private::Who<'_>;
        }
    });
    quote! {
        #[doc = #about]
        #[diagnostic::on_unimplemented(message = #message, label = "this actor may not", note = #note)]
        pub trait #may<From> {
            #[doc(hidden)]
            const __ROW: __sealed::Row;
            #who
        }
        #(#impls)*
    }
}

fn implementation(
    names: &Names<'_>,
    may: &Ident,
    step: &Move<'_>,
    group: Option<&Ident>,
    actor: &Path,
) -> TokenStream {
    let (generics, from, predicates) = if let Some(group) = group {
        let from = names::free_in(&quote!(#group #actor));
        (quote!(<#from: #group>), quote!(#from), quote!())
    } else {
        names.for_state(names.source(step))
    };
    let place = names.graph.actors().iter().position(|known| *known == actor).map(names::index);
    let kind =
        names.durable.then(|| quote!((__machine::__private::rows::kind_of(DEFINITION, #place))));
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
}
