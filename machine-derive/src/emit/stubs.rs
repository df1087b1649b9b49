use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{GenericParam, Ident, Type};

use super::{
    names::{self, Names},
    states,
    typed::derives,
};
use crate::{
    model::{Graph, State, is_reserved, is_reserved_state},
    parse::{Item, Transition},
};

/// The user's types after a mistake, just good enough that code which uses them still resolves:
/// one mistake makes one error. Nobody runs this code.
pub(crate) fn stubs(graph: &Graph<'_>) -> TokenStream {
    let names = Names::of(graph);
    // The second state of a name was reported; here it would only be reported again.
    let mut states: Vec<&State<'_>> = Vec::new();
    for state in &graph.states {
        if states.iter().all(|known| known.name() != state.name()) {
            states.push(state);
        }
    }
    let parts = [
        parameters(graph),
        definition(graph),
        typed(graph, &names, &states),
        erased(graph, &names, &states),
        status(graph, &states),
        event(graph),
        actors(graph),
        durable(&names),
    ];
    names.module(graph, &quote!(#(#parts)*))
}

/// A machine has no generic parameters; the types that name one must still mean something.
fn parameters(graph: &Graph<'_>) -> TokenStream {
    let types = graph.declaration.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
    });
    quote!(#(pub type #types = ();)*)
}

fn definition(graph: &Graph<'_>) -> TokenStream {
    let name = graph.stored();
    quote! {
        pub const DEFINITION: &__machine::definition::Definition =
            &__machine::definition::Definition::new(#name, "", &[], &[], 0, &[]);
    }
}

fn typed(graph: &Graph<'_>, names: &Names<'_>, states: &[&State<'_>]) -> TokenStream {
    let Names { typed, any, context, .. } = names;
    let derives = &graph.declaration.derives;
    let context_param = Names::has_context(graph).then(|| quote!(_: #context,));
    let constructor = graph.states.get(graph.initial).map_or_else(
        || quote!(impl #typed<()> { pub fn new(#context_param) -> Self { loop {} } }),
        |initial| {
            let name = initial.name();
            let fields = initial.written.fields.iter();
            let params = Params::of(fields.map(|field| known(graph, &field.ty)));
            let Params { generics, types } = params;
            quote! {
                impl #typed<#name> {
                    pub fn new<#(#generics),*>(#context_param #(_: #types),*) -> Self {
                        loop {}
                    }
                }
            }
        },
    );
    // What is there already stands in for a state of its name.
    let new = states.iter().filter(|state| !is_reserved_state(graph.declaration, state.name()));
    let states = new.map(|state| {
        let (name, item) = (state.name(), states::item(names, state));
        let terminal =
            state.written.terminal.then(|| quote!(impl __machine::typed::Terminal for #name {}));
        quote! {
            #[derive(#(#derives),*)]
            #item

            impl __machine::typed::State for #name {
                type Machine = #typed<Self>;
                type Any = #any;
                const INDEX: usize = 0;

                fn narrow(_: #any) -> ::core::result::Result<#typed<Self>, #any> {
                    loop {}
                }
            }
            #terminal
        }
    });
    let methods = methods(graph, names);
    let getters = getters(graph, names);
    quote! {
        pub struct #typed<S>(S);

        #constructor

        impl<S> #typed<S> {
            #methods
            #getters
            pub fn state(&self) -> &S {
                loop {}
            }
        }

        impl<S> ::core::fmt::Debug for #typed<S> {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                loop {}
            }
        }

        #(#states)*
    }
}

/// What can be read of the machine, typed or erased.
fn getters(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
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
    quote!(#context #journal)
}

/// A method per trigger, whether or not it could be read or resolved, on every state: the state
/// before it may be the mistake.
fn methods(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let typed = &names.typed;
    let methods = written(graph).into_iter().map(|transition| {
        let name = &transition.trigger;
        let restricted =
            all_written(graph).any(|other| other.trigger == *name && !other.by.is_empty());
        let known = graph.states.iter().find(|state| *state.name() == transition.target);
        let to = known.or(graph.states.first()).map(State::name);
        let items = transition.payload.iter();
        let params = Params::of(items.filter_map(|item| brought(graph, transition, item)));
        let Params { generics, types } = params;
        let by = restricted.then(|| quote!(_: &impl ::core::marker::Sized));
        quote! {
            pub fn #name<#(#generics),*>(self, #(_: #types,)* #by) -> #typed<#to> {
                loop {}
            }
        }
    });
    quote!(#(#methods)*)
}

fn erased(graph: &Graph<'_>, names: &Names<'_>, states: &[&State<'_>]) -> TokenStream {
    let Names { typed, any, .. } = names;
    let all: Vec<_> = states.iter().map(|state| state.name()).collect();
    let getters = getters(graph, names);
    let serialize = (names.durable || derives(graph, "Serialize")).then(|| serialize(any));
    quote! {
        pub enum #any { #(#all(#typed<#all>)),* }

        impl #any {
            #getters
            pub fn status(&self) -> Status {
                loop {}
            }
            pub fn apply(
                self,
                _: Event,
                _: &impl ::core::marker::Sized,
            ) -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                loop {}
            }
            pub fn apply_mut(
                &mut self,
                _: Event,
                _: &impl ::core::marker::Sized,
            ) -> ::core::result::Result<(), __machine::typed::Illegal> {
                loop {}
            }
        }

        impl<S> ::core::convert::From<#typed<S>> for #any {
            fn from(_: #typed<S>) -> Self {
                loop {}
            }
        }

        impl ::core::fmt::Debug for #any {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                loop {}
            }
        }

        #serialize
    }
}

fn status(graph: &Graph<'_>, states: &[&State<'_>]) -> TokenStream {
    let all = states.iter().map(|state| state.name());
    let status = format_ident!("Status");
    let serialize = derives(graph, "Serialize").then(|| serialize(&status));
    let deserialize = derives(graph, "Deserialize").then(|| {
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

fn event(graph: &Graph<'_>) -> TokenStream {
    let derives = &graph.declaration.derives;
    let variants = written(graph).into_iter().map(|transition| {
        let name = names::variant(&transition.trigger);
        let mut fields = transition.payload.iter().enumerate().filter_map(|(position, item)| {
            let name = item.name();
            // An item that stands twice was reported.
            if transition.payload[..position].iter().any(|other| other.name() == name) {
                return None;
            }
            Some(match brought(graph, transition, item)? {
                Brought::Type(ty) => quote!(#name: #ty),
                Brought::Unknown => quote!(#name: ()),
            })
        });
        let first = fields.next();
        let body = first.map(|first| quote!({ #first #(, #fields)* }));
        quote!(#name #body)
    });
    quote! {
        #[derive(#(#derives),*)]
        pub enum Event { #(#variants),* }

        impl Event {
            pub fn trigger(&self) -> &'static str {
                loop {}
            }
        }
    }
}

fn actors(graph: &Graph<'_>) -> TokenStream {
    let traits = written(graph).into_iter().map(|transition| {
        let may = format_ident!("May{}", names::variant(&transition.trigger));
        quote! {
            pub trait #may<From>: __machine::actor::Actor {}
            impl<From, A: __machine::actor::Actor> #may<From> for A {}
        }
    });
    quote!(#(#traits)*)
}

fn durable(names: &Names<'_>) -> TokenStream {
    if !names.durable {
        return TokenStream::new();
    }
    let Names { typed, any, .. } = names;
    let durable = quote! {
        fn definition(&self) -> &'static __machine::definition::Definition {
            loop {}
        }
        fn state_index(&self) -> usize {
            loop {}
        }
        fn journal(&self) -> &__machine::__private::Journal {
            loop {}
        }
        fn rules(&self) -> &dyn __machine::__private::Context {
            loop {}
        }
        fn __journal_mut(
            &mut self,
            _: __machine::__private::Pass,
        ) -> &mut __machine::__private::Journal {
            loop {}
        }
        fn __encode(&self) -> ::core::result::Result<
            (::std::string::String, ::std::string::String),
            __machine::__private::serde_json::Error,
        > {
            loop {}
        }
    };
    quote! {
        impl<S: ::core::marker::Send> __machine::__private::Durable for #typed<S> { #durable }

        impl __machine::__private::Durable for #any { #durable }

        impl __machine::__private::Restore for #any {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;

            fn __restore(
                _: __machine::__private::Verified,
            ) -> ::core::result::Result<Self, __machine::__private::serde_json::Error> {
                loop {}
            }
        }
    }
}

fn serialize(name: &Ident) -> TokenStream {
    quote! {
        impl __machine::__private::serde::Serialize for #name {
            fn serialize<S: __machine::__private::serde::Serializer>(
                &self,
                _: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                loop {}
            }
        }
    }
}

/// Every transition as far as it could be read.
fn all_written<'a>(graph: &'a Graph<'_>) -> impl Iterator<Item = &'a Transition> {
    graph
        .states
        .iter()
        .flat_map(|state| state.written.transitions.iter().chain(&state.written.unreadable))
}

/// The first transition of each trigger.
fn written<'a>(graph: &'a Graph<'_>) -> Vec<&'a Transition> {
    let mut first: Vec<&Transition> = Vec::new();
    for transition in all_written(graph) {
        let known = first.iter().any(|known| known.trigger == transition.trigger);
        if !known && !is_reserved(&transition.trigger) {
            first.push(transition);
        }
    }
    first
}

/// What is known of something that the caller brings.
enum Brought<'a> {
    Type(&'a Type),
    /// The target has no such field, or the type may name a generic parameter.
    Unknown,
}

/// What the caller brings for one item of a payload, if anything.
fn brought<'a>(
    graph: &Graph<'a>,
    transition: &'a Transition,
    item: &'a Item,
) -> Option<Brought<'a>> {
    match item {
        Item::Computed(..) => None,
        Item::Noted(_, ty) => Some(known(graph, ty)),
        Item::Field(name) => {
            let target = graph.states.iter().find(|state| *state.name() == transition.target);
            let mut fields = target.into_iter().flat_map(|state| &state.written.fields);
            let field = fields.find(|field| field.ident.as_ref() == Some(name));
            Some(field.map_or(Brought::Unknown, |field| known(graph, &field.ty)))
        }
    }
}

fn known<'a>(graph: &Graph<'_>, ty: &'a Type) -> Brought<'a> {
    if graph.declaration.generics.params.is_empty() { Brought::Type(ty) } else { Brought::Unknown }
}

/// Parameters that take what is known to be brought, and anything for the rest.
#[derive(Default)]
struct Params {
    generics: Vec<Ident>,
    types: Vec<TokenStream>,
}

impl Params {
    fn of<'a>(all: impl Iterator<Item = Brought<'a>>) -> Self {
        let mut params = Self::default();
        for brought in all {
            match brought {
                Brought::Type(ty) => params.types.push(quote!(#ty)),
                Brought::Unknown => {
                    let generic = format_ident!("T{}", params.generics.len());
                    params.types.push(quote!(#generic));
                    params.generics.push(generic);
                }
            }
        }
        params
    }
}
