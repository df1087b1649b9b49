use proc_macro2::TokenStream;
use quote::quote;

use super::{event, typed, written};
use crate::{
    emit::names::Names,
    model::{Graph, State},
};

/// The erased machine and its statuses.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>, states: &[&State<'_>]) -> TokenStream {
    let (any, status) = (any(graph, names, states), status(graph, states));
    quote!(#any #status)
}

fn any(graph: &Graph<'_>, names: &Names<'_>, states: &[&State<'_>]) -> TokenStream {
    let Names { any, state, .. } = names;
    let (any_type, event) = (names.any_type(), event::ty(graph, names));
    let defined = names.params.define(&[], &names.params.every());
    let (generics, predicates) = names.for_all();
    let (generics_and_state, _) = names.for_all_and_state(&quote!());
    let in_any_state = names.typed_with(quote!(#state));
    let variants = states.iter().map(|state| {
        let (name, typed) = (state.name(), names.typed_in(state));
        quote!(#name(#typed))
    });
    // Without states, something must still use every parameter.
    let none = states.is_empty().then(|| names.params.marker().map(|marker| quote!(None(#marker))));
    let none = none.flatten();
    let getters = typed::getters(graph, names);
    let due = written::all(graph).any(|transition| transition.after.is_some()).then(|| {
        let now = names.durable.then(|| quote!(_: __machine::clock::Millis,));
        quote! {
            pub fn fire_deadline(
                self,
                _: &str,
                #now
            ) -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                loop {}
            }
        }
    });
    let serialized = names.durable || names.params.is_empty() && graph.derives("Serialize");
    let serialize = serialized.then(|| serialize(&generics, &any_type, &predicates));
    quote! {
        pub enum #any #defined #predicates {
            #(#variants,)*
            #none
        }

        impl #generics #any_type #predicates {
            #getters
            #due
            pub fn status(&self) -> Status {
                loop {}
            }
            pub fn apply(
                self,
                _: #event,
                _: &impl ::core::marker::Sized,
            ) -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                loop {}
            }
            pub fn apply_mut(
                &mut self,
                _: #event,
                _: &impl ::core::marker::Sized,
            ) -> ::core::result::Result<(), __machine::typed::Illegal> {
                loop {}
            }
            pub fn available(
                &self,
                _: &impl ::core::marker::Sized,
            ) -> impl ::core::iter::Iterator<Item = __machine::definition::Move<'static>> {
                ::core::iter::empty()
            }
            pub fn why_not(
                &self,
                _: &#event,
                _: &impl ::core::marker::Sized,
            ) -> ::core::option::Option<__machine::typed::Illegal> {
                loop {}
            }
        }

        impl #generics __machine::typed::Erased for #any_type #predicates {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;
            type Event = #event;

            fn state_index(&self) -> usize {
                loop {}
            }
            fn apply(
                self,
                _: #event,
                _: &impl __machine::actor::Actor,
            ) -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                loop {}
            }
        }

        impl #generics_and_state ::core::convert::From<#in_any_state> for #any_type #predicates {
            fn from(_: #in_any_state) -> Self {
                loop {}
            }
        }

        impl #generics_and_state ::core::convert::TryFrom<#any_type> for #in_any_state #predicates {
            type Error = #any_type;

            fn try_from(_: #any_type) -> ::core::result::Result<Self, #any_type> {
                loop {}
            }
        }

        impl #generics ::core::fmt::Debug for #any_type #predicates {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                loop {}
            }
        }

        #serialize
    }
}

fn status(graph: &Graph<'_>, states: &[&State<'_>]) -> TokenStream {
    let all = states.iter().map(|state| state.name());
    let serialize =
        graph.derives("Serialize").then(|| serialize(&quote!(), &quote!(Status), &quote!()));
    let deserialize = graph.derives("Deserialize").then(|| {
        quote! {
            impl<'de> __machine::__private::serde::Deserialize<'de> for Status {
                fn deserialize<D: __machine::__private::serde::Deserializer<'de>>(
                    _: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    loop {}
                }
            }
        }
    });
    quote! {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Status { #(#all),* }

        impl Status {
            pub const ALL: &'static [Self] = &[];
            pub const fn as_str(self) -> &'static str {
                loop {}
            }
            pub const fn definition(self) -> &'static __machine::definition::StateDef {
                loop {}
            }
        }

        impl ::core::fmt::Display for Status {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                loop {}
            }
        }

        impl ::core::str::FromStr for Status {
            type Err = __machine::typed::UnknownStatus;

            fn from_str(_: &str) -> ::core::result::Result<Self, Self::Err> {
                loop {}
            }
        }

        #serialize
        #deserialize
    }
}

fn serialize(generics: &TokenStream, ty: &TokenStream, predicates: &TokenStream) -> TokenStream {
    quote! {
        impl #generics __machine::__private::serde::Serialize for #ty #predicates {
            fn serialize<__S: __machine::__private::serde::Serializer>(
                &self,
                _: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                loop {}
            }
        }
    }
}
