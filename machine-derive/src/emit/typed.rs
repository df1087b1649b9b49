use proc_macro2::TokenStream;
use quote::quote;

use super::{
    names::{self, Names},
    start,
};
#[cfg(feature = "diagram")]
use crate::diagram;
use crate::{model::Graph, text::bare};

/// The typed machine: its struct, its constructor, and the getters of every state.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let Names { typed, context, state, params, .. } = names;
    let docs = &names.graph.declaration.docs;
    let table = transition_table(names.graph);
    #[cfg(feature = "diagram")]
    let drawing = diagram::attribute(names.graph);
    #[cfg(not(feature = "diagram"))]
    let drawing = TokenStream::new();
    let every = params.every();
    let declared = params.define(&[quote!(#state)], &every);
    let predicates = params.where_clause(&every);
    let marker = params.marker().map(|ty| quote!(marker: #ty,));
    let kept = match (names.durable, names.has_context()) {
        (true, _) => quote!(core: ::std::boxed::Box<__machine::__private::Core<#context>>,),
        (false, true) => quote!(context: #context,),
        (false, false) => quote!(),
    };
    let parts = [constructor(names), getters(names), never_cloned(names), debug(names)];
    quote! {
        #(#docs)*
        #drawing
        #[doc = #table]
        #[must_use = "a transition returns the machine in its next state; if it is dropped, the step is lost"]
        pub struct #typed #declared #predicates {
            #kept
            #marker
            state: #state,
        }

        #(#parts)*
    }
}

fn constructor(names: &Names<'_>) -> TokenStream {
    let context = &names.context;
    let initial = &names.graph.states[names.graph.initial];
    let initial_name = initial.name();
    let (field_names, field_types): (Vec<_>, Vec<_>) =
        initial.written.fields.iter().map(|field| (&field.name, &field.ty)).unzip();
    let state = if field_names.is_empty() {
        quote!(#initial_name)
    } else {
        quote!(#initial_name { #(#field_names),* })
    };
    let has_context = names.has_context();
    // Hygienic, because a field of the initial state may also be called `context`.
    let context_param = has_context.then(|| hygienic!(context: #context,));
    let started = start::on_entry(names, None, names.graph.initial);
    let due = (names.durable && !started.is_empty())
        .then(|| hygienic!(core.__created(DEFINITION, &[#(#started),*]);));
    let mutable = due.is_some().then(|| quote!(mut));
    let marker = names.params.marker().map(|_| quote!(marker: ::core::marker::PhantomData,));
    let made = if names.durable {
        let given = if has_context { hygienic!(context) } else { quote!(()) };
        hygienic! {
            let state = #state;
            let #mutable core = __machine::__private::Core::__create(
                DEFINITION,
                #given,
                <#context as __machine::__private::Context>::__as_dyn,
            );
            #due
            Self { core, #marker state }
        }
    } else {
        let context = has_context.then(|| hygienic!(context: context,));
        quote!(Self { #context #marker state: #state })
    };
    let typed = names.typed_in(initial);
    let (generics, predicates) = names.for_all();
    let about = format!("A new machine, in {}.", initial.label);
    // The same by name: the data of the state, with the context if there is one.
    let data = names.state_type(initial);
    let (given, pattern, first) = if has_context {
        (quote!((#context, #data)), hygienic!((context, state)), Some(hygienic!(context)))
    } else {
        let state = if field_names.is_empty() { quote!(_) } else { hygienic!(state) };
        (data, state, None)
    };
    let args = field_names.iter().map(|field| hygienic!(state.#field));
    let args = first.into_iter().chain(args);
    quote! {
        impl #generics #typed #predicates {
            #[doc = #about]
            pub fn new(#context_param #(#field_names: #field_types),*) -> Self {
                #made
            }
        }

        impl #generics ::core::convert::From<#given> for #typed #predicates {
            fn from(#pattern: #given) -> Self {
                Self::new(#(#args),*)
            }
        }
    }
}

fn getters(names: &Names<'_>) -> TokenStream {
    let state = &names.state;
    let context = if names.durable { quote!(self.core.__context()) } else { quote!(&self.context) };
    let getters = names.getters(&context, &quote!(self.core.__journal()));
    let parts = (!names.durable).then(|| {
        let (about, parts, of) = if names.has_context() {
            let context = &names.context;
            let parts = quote!((#context, #state));
            ("The context, and the data of the state.", parts, quote!((self.context, self.state)))
        } else {
            ("The data of the state.", quote!(#state), quote!(self.state))
        };
        quote! {
            #[doc = #about]
            pub fn into_parts(self) -> #parts {
                #of
            }

            /// The data of the state.
            pub fn into_state(self) -> #state {
                self.state
            }

            /// The data of the state, to change them in place. Only a transition leads to another
            /// state.
            pub(crate) fn state_mut(&mut self) -> &mut #state {
                &mut self.state
            }
        }
    });
    let typed = names.typed_with(state);
    let (generics, predicates) = names.for_all_and_state(&quote!());
    quote! {
        impl #generics #typed #predicates {
            #parts

            /// The data of the state.
            #[must_use]
            pub fn state(&self) -> &#state {
                &self.state
            }

            #getters
        }
    }
}

/// A `clone` that never compiles; without it, rustc would suggest implementing `Clone`.
fn never_cloned(names: &Names<'_>) -> TokenStream {
    if names.graph.triggers.iter().any(|trigger| bare(trigger.name) == "clone") {
        return TokenStream::new();
    }
    let state = &names.state;
    let (typed, any) = (names.typed_with(state), names.any_type());
    let (generics, predicates) = names.for_all();
    let (generics_and_state, _) = names.for_all_and_state(&quote!());
    let method = quote! {
        #[doc(hidden)]
        pub fn clone(&self) -> Self
        where
            for<'__> (): __machine::typed::Copied<Self>,
        {
            loop {}
        }
    };
    quote! {
        impl #generics_and_state #typed #predicates { #method }
        impl #generics #any #predicates { #method }
    }
}

fn debug(names: &Names<'_>) -> TokenStream {
    if !names.debug() {
        return TokenStream::new();
    }
    let bound = if names.stub { quote!() } else { quote!(: ::core::fmt::Debug) };
    let name = names.typed.to_string();
    let state = &names.state;
    let typed = names.typed_with(state);
    let (generics, predicates) = names.for_all_and_state(&bound);
    quote! {
        impl #generics ::core::fmt::Debug for #typed #predicates {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#name).field("state", &self.state).finish_non_exhaustive()
            }
        }
    }
}

fn transition_table(graph: &Graph<'_>) -> String {
    let rows = graph.moves.iter().flat_map(|step| {
        let from = &graph.states[step.from].label;
        let trigger = bare(graph.triggers[step.trigger].name);
        let by = step.by.iter().map(|actor| format!("`{}`", names::path_text(actor)));
        let by: Vec<String> = by.collect();
        let by = match by.as_slice() {
            [] => "anyone".to_owned(),
            _ if graph.takes_an_outcome(&step.written.trigger) => "the call".to_owned(),
            by => by.join(", "),
        };
        let detach = if step.written.detach.is_some() { ", detaches" } else { "" };
        step.edges().map(move |edge| {
            let stays = edge.stays.map(|stays| format!(", {}", stays.words()));
            let stays = stays.unwrap_or_default();
            let to = &graph.states[edge.to].label;
            // A bar would end the cell, a backtick the code span in it.
            let when = edge.when.map(|when| match when.replace('|', "\\|").replace('`', "'") {
                when if when == "else" => " otherwise".to_owned(),
                when => format!(" if `{when}`"),
            });
            let when = when.unwrap_or_default();
            format!("| {from} | `{trigger}`{when} | {to} | {by}{stays}{detach} |\n")
        })
    });
    let rows: String = rows.collect();
    let calls = call_table(graph);
    format!("\n\n# Transitions\n\n| from | trigger | to | by |\n|---|---|---|---|\n{rows}{calls}")
}

/// The calls that states make; empty without any.
fn call_table(graph: &Graph<'_>) -> String {
    let rows = graph.states.iter().filter_map(|state| {
        let invocation = state.invocation.as_ref()?;
        let outcomes = invocation.written.outcomes.iter();
        let outcomes = outcomes.map(|it| format!("{} = `{}`", it.role.key(), bare(&it.trigger)));
        let outcomes: Vec<String> = outcomes.collect();
        let outcomes = match outcomes.as_slice() {
            [] => "the handler".to_owned(),
            outcomes => outcomes.join(", "),
        };
        let label = invocation.label().replace('|', "\\|");
        Some(format!("| {} | `{label}` | {outcomes} |\n", state.label))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    format!("\n# Calls\n\n| state | call | outcome |\n|---|---|---|\n{rows}")
}
