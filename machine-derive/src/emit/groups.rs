use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::{
    fields,
    names::{self, Names},
    transitions,
};
use crate::{
    model::{Graph, Move},
    paths::one_level_down,
    text::bare,
};

/// One sealed trait per group, for code that is generic over its states, and the moves that such
/// code can make: those declared for the group.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let groups = names.graph.groups();
    if groups.is_empty() {
        return TokenStream::new();
    }
    let mut seals = TokenStream::new();
    let mut traits = TokenStream::new();
    for (name, members) in groups {
        let labels = members.iter().map(|state| names.graph.states[*state].label.as_str());
        let group = Group {
            name,
            seal: format_ident!("{}Seal", bare(name)),
            labels: labels.collect::<Vec<_>>().join(", "),
            members,
            triggers: names.graph.triggers_of(name),
        };
        seals.extend(group.seal(names));
        traits.extend(group.public(names));
    }
    quote! {
        // Seals the groups: only the declaration assigns states to them.
        mod __groups {
            use super::*;

            #seals
        }
        #traits
    }
}

struct Group<'a> {
    name: &'a Ident,
    /// The sealing trait, which other code cannot name.
    seal: Ident,
    members: Vec<usize>,
    labels: String,
    triggers: Vec<usize>,
}

impl Group<'_> {
    fn seal(&self, names: &Names<'_>) -> TokenStream {
        let (seal, refusal) = (&self.seal, self.refusal());
        let methods = self.moves(names.graph).map(|step| {
            let signature = signature(names, step, &quote!(Self));
            // The seals are in a submodule.
            one_level_down(hygienic!(#signature;))
        });
        quote! {
            #refusal
            pub trait #seal: AnyState {
                #(#methods)*
            }
        }
    }

    /// The public trait, its implementations, and the methods of all states of the group.
    fn public(&self, names: &Names<'_>) -> TokenStream {
        let (name, seal, refusal) = (self.name, &self.seal, self.refusal());
        let about = format!("The states of the group: {}.", self.labels);
        let fields = fields::of_all(names, &self.members);
        let members = self.members.iter().map(|state| {
            let (generics, ty, predicates) = names.for_state(&names.graph.states[*state]);
            let moves = names.graph.leaving(*state);
            let moves = moves.filter(|step| self.triggers.contains(&step.trigger));
            let methods = moves.map(|step| member(names, step));
            quote! {
                impl #generics __groups::#seal for #ty #predicates { #(#methods)* }
                impl #generics #name for #ty #predicates {}
            }
        });
        let methods = self.moves(names.graph).map(|step| self.method(names, step));
        quote! {
            #[doc = #about]
            #refusal
            pub trait #name: __groups::#seal #(+ #fields)* {}
            #(#members)*
            #(#methods)*
        }
    }

    /// The method of a machine in any state of the group.
    fn method(&self, names: &Names<'_>, step: &Move<'_>) -> TokenStream {
        let (group, seal, typed) = (self.name, &self.seal, &names.typed);
        let trigger = names.trigger(step);
        let name = trigger.name;
        let items = trigger.items();
        let params = transitions::params(names.graph, step);
        let result =
            |state: &TokenStream| transitions::result(names, step, &hygienic!(Self), state);
        let stays = step.leads.iter().any(|target| target.stays);
        let to = if stays && !step.is_choice() {
            "itself".to_owned()
        } else {
            names.graph.targets_text(step)
        };
        let about = format!("From each state of [`{}`] to {to}.", bare(group));
        let docs = transitions::docs(names, step, &about);
        let actors = step.by;
        let mentioned = result(&hygienic!(Self));
        let state = names::free_in(&quote!(#group #(#params)* #mentioned #(#actors)*));
        let result = result(&quote!(#state));
        let by = (!step.by.is_empty()).then(|| {
            let may = names::may(trigger);
            hygienic!(by: &impl #may<#state>)
        });
        let actor = transitions::actor_by_permission(names, trigger, step);
        hygienic! {
            impl<#state: #group> #typed<#state> {
                #docs
                pub fn #name(self, #(#params,)* #by) -> #result {
                    <#state as __groups::#seal>::#name(
                        self, #(#items,)* __sealed::Asked(()), #actor
                    )
                }
            }
        }
    }

    /// One move per trigger of the group. States outside may have moves of the same name.
    fn moves<'g>(&'g self, graph: &'g Graph<'_>) -> impl Iterator<Item = &'g Move<'g>> {
        self.triggers.iter().filter_map(|trigger| {
            let mut moves = graph.moves_of(*trigger);
            moves.find(|step| graph.group_of(step) == Some(self.name))
        })
    }

    /// The compile error for a state that is not in the group.
    fn refusal(&self) -> TokenStream {
        let message = format!("`{{Self}}` is not a state of the group `{}`", bare(self.name));
        let note = format!("the states of the group: {}", self.labels);
        quote! {
            #[diagnostic::on_unimplemented(
                message = #message, label = "not in the group", note = #note
            )]
        }
    }
}

fn signature(names: &Names<'_>, step: &Move<'_>, from: &TokenStream) -> TokenStream {
    let typed = &names.typed;
    let here = quote!(#typed<#from>);
    let name = names.trigger(step).name;
    let params = transitions::params(names.graph, step);
    let result = transitions::result(names, step, &here, from);
    let actor = transitions::actor_param(names);
    hygienic!(fn #name(machine: #here, #(#params,)* _: __sealed::Asked, #actor) -> #result)
}

/// The implementation of that function for one state.
fn member(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let from = names.state_type(names.source(step));
    let signature = signature(names, step, &from);
    let actor = names.durable.then(|| hygienic!(actor));
    let body = transitions::step_of(names.graph, step, &hygienic!(machine), actor.as_ref());
    hygienic!(#signature { #body })
}
