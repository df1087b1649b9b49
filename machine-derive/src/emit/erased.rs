use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{
    names::{self, Names},
    typed::derives,
};
use crate::model::{Graph, Move, State};

/// The machine whose state is known at run time only: same rules, told as values.
pub(super) fn emit(graph: &Graph<'_>, names: &Names) -> TokenStream {
    let Names { typed, any, context, .. } = names;
    let about = format!("A [`{typed}`] whose state is known at run time only.");
    let debug = derives(graph, "Debug").then(|| quote!(#[derive(Debug)]));
    let all: Vec<_> = graph.states.iter().map(State::name).collect();
    let variants = graph.states.iter().map(|state| {
        let (name, docs) = (state.name(), &state.written.docs);
        quote!(#(#docs)* #name(#typed<#name>))
    });
    let arms = graph.moves.iter().map(|step| arm(graph, names, step));
    let context_getter = Names::has_context(graph).then(|| {
        quote! {
            /// What was fixed at creation.
            #[must_use]
            pub fn context(&self) -> &#context {
                match self { #(Self::#all(machine) => machine.context()),* }
            }
        }
    });
    let journal_getters = names.durable.then(|| {
        quote! {
            /// The machine's identity.
            #[must_use]
            pub fn id(&self) -> ::machine::Id {
                self.journal().id()
            }

            /// What happened to it, oldest first.
            #[must_use]
            pub fn journal(&self) -> &::machine::__private::Journal {
                match self { #(Self::#all(machine) => machine.journal()),* }
            }
        }
    });
    let serialize = (!names.durable && derives(graph, "Serialize")).then(|| serialize(graph, any));
    hygienic! {
        #[doc = #about]
        ///
        /// A `match` gives the typed machine back.
        #debug
        pub enum #any {
            #(#variants),*
        }

        impl #any {
            /// The state that it is in.
            #[must_use]
            pub fn status(&self) -> Status {
                match self { #(Self::#all(_) => Status::#all),* }
            }

            /// Makes the move that `event` asks for.
            ///
            /// # Errors
            ///
            /// The machine as it was, and why: the state has no such move, or `by` may not.
            pub fn apply(
                self,
                event: Event,
                by: &impl ::machine::actor::Actor,
            ) -> ::core::result::Result<Self, ::machine::typed::Refused<Self>> {
                match (self, event) {
                    #(#arms)*
                    (machine, event) => {
                        let reason = ::machine::typed::Illegal::__new(
                            DEFINITION,
                            machine.status() as usize,
                            event.trigger(),
                            ::machine::__private::kind(by),
                        );
                        ::core::result::Result::Err(::machine::typed::Refused { machine, reason })
                    }
                }
            }

            /// Makes the move in place. A refusal leaves the machine as it was.
            ///
            /// # Errors
            ///
            /// Why the move was refused.
            pub fn apply_mut(
                &mut self,
                event: Event,
                by: &impl ::machine::actor::Actor,
            ) -> ::core::result::Result<(), ::machine::typed::Illegal> {
                ::machine::__private::replace(self, |machine| match machine.apply(event, by) {
                    ::core::result::Result::Ok(machine) => {
                        (::core::result::Result::Ok(()), machine)
                    }
                    ::core::result::Result::Err(refused) => {
                        (::core::result::Result::Err(refused.reason), refused.machine)
                    }
                })
            }

            #context_getter
            #journal_getters
        }

        #(
            impl ::core::convert::From<#typed<#all>> for #any {
                fn from(machine: #typed<#all>) -> Self {
                    Self::#all(machine)
                }
            }
        )*

        #serialize
    }
}

fn arm(graph: &Graph<'_>, names: &Names, step: &Move<'_>) -> TokenStream {
    let any = &names.any;
    let (from, to) = (&graph.states[step.from], &graph.states[step.to]);
    let (from_name, to_name) = (from.name(), to.name());
    let trigger = &graph.triggers[step.trigger];
    let event = names::event(trigger);
    let function = names::step(from, trigger);
    let items: Vec<_> = trigger.brought.iter().map(|brought| brought.name).collect();
    let pattern = (!items.is_empty()).then(|| hygienic!({ #(#items),* }));
    let by = step.by;
    let guard = (!by.is_empty()).then(|| hygienic!(if #(::machine::__private::is::<#by>(by))||*));
    let actor = names.durable.then(|| {
        if by.is_empty() {
            hygienic!(::core::option::Option::None)
        } else {
            hygienic!(::core::option::Option::Some(::machine::__private::kind(by)))
        }
    });
    hygienic! {
        (#any::#from_name(machine), Event::#event #pattern) #guard => {
            ::core::result::Result::Ok(#any::#to_name(#function(machine, #(#items,)* #actor)))
        }
    }
}

/// A plain machine is written as its state; there is no journal to check it by on the way back.
fn serialize(graph: &Graph<'_>, any: &Ident) -> TokenStream {
    let any_text = any.to_string();
    let arms = graph.states.iter().enumerate().map(|(index, state)| {
        let (name, stored) = (state.name(), &state.stored);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        quote! {
            Self::#name(machine) => serializer.serialize_newtype_variant(
                #any_text, #index, #stored, machine.state(),
            )
        }
    });
    quote! {
        impl ::machine::__private::serde::Serialize for #any {
            fn serialize<S: ::machine::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                match self { #(#arms),* }
            }
        }
    }
}
