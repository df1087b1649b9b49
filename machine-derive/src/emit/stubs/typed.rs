use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{
    choice,
    written::{self, Taken},
};
use crate::{
    emit::{names::Names, states},
    model::{Graph, State, hides_a_type, is_reserved_state},
};

/// The typed machine, and one struct per state.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>, states: &[&State<'_>]) -> TokenStream {
    let Names { typed, state, params, .. } = names;
    let every = params.every();
    let declared = params.define(&[quote!(#state)], &every);
    let predicates = params.where_clause(&every);
    let marker = params.marker();
    let (generics, _) = names.for_all_and_state(&quote!());
    let ty = names.typed_with(quote!(#state));
    let constructor = constructor(graph, names);
    let methods = methods(graph, names);
    let getters = getters(graph, names);
    // An item that exists already serves as the state of its name.
    let new = states.iter().filter(|state| {
        !is_reserved_state(graph.declaration, state.name())
            && !hides_a_type(graph.declaration, state.written)
    });
    let structs = new.map(|state| structure(graph, names, state));
    quote! {
        pub struct #typed #declared #predicates {
            stub: (#state, #marker),
        }

        #constructor

        impl #generics #ty #predicates {
            #methods
            #getters
            pub fn state(&self) -> &#state {
                loop {}
            }
        }

        impl #generics ::core::fmt::Debug for #ty #predicates {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                loop {}
            }
        }

        #(#structs)*
    }
}

fn constructor(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let context = &names.context;
    let context_param = Names::has_context(graph).then(|| quote!(_: #context,));
    let (generics, predicates) = names.for_all();
    let initial = graph.states.get(graph.initial);
    let ty =
        initial.map_or_else(|| names.typed_with(quote!(())), |initial| names.typed_in(initial));
    let fields = initial.into_iter().flat_map(|initial| &initial.written.fields);
    let types = fields.map(|field| &field.ty);
    quote! {
        impl #generics #ty #predicates {
            pub fn new(#context_param #(_: #types),*) -> Self {
                loop {}
            }
        }
    }
}

fn structure(graph: &Graph<'_>, names: &Names<'_>, state: &State<'_>) -> TokenStream {
    let (name, item) = (state.name(), states::item(graph, names, state));
    let derives = &graph.declaration.derives;
    let marks = names.params.is_empty().then(|| {
        let Names { typed, any, .. } = names;
        let terminal =
            state.written.terminal.then(|| quote!(impl __machine::typed::Terminal for #name {}));
        quote! {
            impl __machine::typed::State for #name {
                type Machine = #typed<Self>;
                type Any = #any;
                const INDEX: usize = 0;

                fn narrow(_: #any) -> ::core::result::Result<#typed<Self>, #any> {
                    loop {}
                }

                fn widen(_: #typed<Self>) -> #any {
                    loop {}
                }
            }
            #terminal
        }
    });
    quote! {
        #[derive(#(#derives),*)]
        #item
        #marks
    }
}

/// The getters of the machine, typed or erased.
pub(super) fn getters(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let context = &names.context;
    let context =
        Names::has_context(graph).then(|| quote!(pub fn context(&self) -> &#context { loop {} }));
    let journal = names.durable.then(|| {
        quote! {
            pub fn id(&self) -> __machine::Id {
                loop {}
            }
            pub fn journal(&self) -> &__machine::__private::Journal {
                loop {}
            }
        }
    });
    let due = written::all(graph).any(|transition| transition.after.is_some()).then(|| {
        quote! {
            pub fn deadlines(
                &self,
            ) -> impl ::core::iter::Iterator<Item = __machine::typed::Deadline> {
                ::core::iter::empty()
            }
        }
    });
    quote!(#context #journal #due)
}

/// One method per trigger on every state, whether or not the trigger could be parsed and resolved:
/// its source state may be the mistake.
fn methods(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let methods = written::first_of_each(graph).into_iter().map(|transition| {
        let name = &transition.trigger;
        let same = || written::all(graph).filter(|other| other.trigger == *name);
        let restricted = same().any(|other| !other.by.is_empty());
        let target = transition.first_target();
        let known = graph.states.iter().find(|state| Some(state.name()) == target);
        let stays = target.is_some_and(|target| target == "Self");
        let next = known.or(graph.states.first()).map(|state| names.typed_in(state));
        let next = next.filter(|_| !stays).unwrap_or_else(|| quote!(Self));
        let state = &names.state;
        let next = choice::name(graph, transition)
            .map_or(next, |name| choice::ty(names, &name, &quote!(#state)));
        let guard = same().find_map(|other| other.guard.as_ref());
        let next = guard.map_or_else(
            || next.clone(),
            |guard| {
                let error = guard.error.to_token_stream();
                quote!(::core::result::Result<#next, __machine::typed::Refused<Self, #error>>)
            },
        );
        let items = transition.payload.iter();
        let brought = items.filter_map(|item| written::brought(graph, transition, item));
        let Taken { generics, types } = Taken::of(brought);
        let by = restricted.then(|| quote!(_: &impl ::core::marker::Sized));
        quote! {
            pub fn #name<#(#generics),*>(self, #(_: #types,)* #by) -> #next {
                loop {}
            }
        }
    });
    quote!(#(#methods)*)
}
