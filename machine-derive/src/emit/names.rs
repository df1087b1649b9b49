use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Type};

use super::params::{Params, Used};
use crate::{
    model::{Graph, Move, State, Trigger},
    parse::serde,
    text::{self, pascal},
    tokens::says,
};

pub(super) struct Names<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) typed: Ident,
    pub(super) any: Ident,
    pub(super) module: Ident,
    pub(super) state: Ident,
    pub(super) params: Params<'a>,
    /// The type of the context, `()` if there is none.
    pub(super) context: TokenStream,
    pub(super) durable: bool,
    pub(super) stub: bool,
    /// The types that have an alias; see `storable`.
    pub(super) data: Vec<String>,
}

impl<'a> Names<'a> {
    pub(super) fn of(graph: &'a Graph<'a>) -> Self {
        let typed = graph.declaration.name.clone();
        let options = &graph.declaration.options;
        let params = Params::of(&graph.declaration.generics);
        let context = options.context.to_token_stream();
        let said = quote!(#typed #context);
        // Without the feature, which was reported, the stubs are those of a plain machine.
        let durable = options.durable.is_some() && cfg!(feature = "durable");
        Self {
            graph,
            any: format_ident!("Any{}", typed),
            module: keyword_safe(&graph.stored(), &typed),
            state: params.free(&said),
            params,
            context: options.context.as_ref().map_or_else(|| quote!(()), Type::to_token_stream),
            durable,
            stub: false,
            data: if durable {
                let types = graph.plain_types().into_iter();
                types.map(|ty| text::of_type(ty.to_token_stream())).collect()
            } else {
                Vec::new()
            },
            typed,
        }
    }

    /// The names of stubs, which nothing stores.
    pub(super) fn of_stubs(graph: &'a Graph<'a>) -> Self {
        Self { data: Vec::new(), stub: true, ..Self::of(graph) }
    }

    pub(super) fn trigger(&self, step: &Move<'_>) -> &Trigger<'a> {
        &self.graph.triggers[step.trigger]
    }

    pub(super) fn source(&self, step: &Move<'_>) -> &State<'a> {
        &self.graph.states[step.from]
    }

    /// Wraps the items in the machine's module, and re-exports some of them.
    pub(super) fn module(&self, items: &TokenStream, exported: &[&Ident]) -> TokenStream {
        let Self { typed, module, .. } = self;
        let vis = &self.graph.declaration.vis;
        let others = &self.graph.declaration.others;
        let krate = self.graph.declaration.options.krate.as_ref();
        let krate = krate.map_or_else(|| quote!(::machine), ToTokens::to_token_stream);
        let about = format!("The states of [`{typed}`], its events, and who may move it.");
        let missing_docs = self.stub.then(|| quote!(missing_docs,));
        let deprecated = self.graph.declaration.has_deprecated().then(|| quote!(deprecated,));
        let lifetime = self.graph.declaration.generics.lifetimes().next();
        let lifetimes = lifetime.map(|_| quote!(single_use_lifetimes,));
        quote! {
            #[doc = #about]
            #(#others)*
            #[allow(
                dead_code, unused_imports, unused_parens, unused_variables, unreachable_pub,
                #missing_docs #deprecated #lifetimes private_bounds, clippy::boxed_local,
                clippy::pedantic, clippy::should_implement_trait, clippy::empty_loop,
                clippy::ptr_arg, clippy::too_many_arguments
            )]
            #vis mod #module {
                use super::*;
                use #krate as __machine;
                #items
            }
            #[doc(inline)]
            #[allow(#deprecated unused_imports)]
            #vis use #module::{#(#exported),*};
        }
    }

    /// The attribute that says where serde is, for an item with these attributes.
    pub(super) fn serde_root(&self, attributes: &[Attribute]) -> Option<TokenStream> {
        let root = self.graph.declaration.serde.as_ref()?;
        let derived = self.graph.derives("Serialize") || self.graph.derives("Deserialize");
        let is_told = !serde::options(attributes, &["crate"]).is_empty();
        (derived && !is_told).then(|| quote!(#[serde(crate = #root)]))
    }

    pub(super) fn has_context(&self) -> bool {
        self.graph.declaration.options.context.is_some()
    }

    /// True if the erased machine asks who makes a move: some transition has `by`, or there is a
    /// journal.
    pub(super) fn asks_who(&self) -> bool {
        let mut transitions = self.graph.declaration.all_transitions();
        self.graph.declaration.options.durable.is_some()
            || transitions.any(|transition| !transition.by.is_empty())
    }

    /// True if the machine implements `Debug`. After a mistake, the derives may be elsewhere.
    pub(super) fn debug(&self) -> bool {
        self.stub || self.graph.derives("Debug")
    }

    /// The getters of the machine, typed or erased, given their bodies.
    pub(super) fn getters(&self, context: &TokenStream, journal: &TokenStream) -> TokenStream {
        let ty = &self.context;
        let context = self.has_context().then(|| {
            quote! {
                /// The context, fixed at creation.
                #[must_use]
                pub fn context(&self) -> &#ty {
                    #context
                }
            }
        });
        let journal = self.durable.then(|| {
            quote! {
                /// The machine's identity.
                #[must_use]
                pub fn id(&self) -> __machine::Id {
                    self.journal().id()
                }

                /// The machine's journal: a summary of what is stored, and the entries since then.
                #[must_use]
                pub fn journal(&self) -> &__machine::__private::Journal {
                    #journal
                }
            }
        });
        quote!(#context #journal)
    }

    pub(super) fn used_by(&self, state: &State<'_>) -> Used {
        self.params.in_types(state.written.fields.iter().map(|field| &field.ty))
    }

    /// True if the state has the name of the typed or the erased machine, which was reported.
    pub(super) fn names_another_item(&self, state: &State<'_>) -> bool {
        *state.name() == self.typed || *state.name() == self.any
    }

    pub(super) fn state_type(&self, state: &State<'_>) -> TokenStream {
        if self.names_another_item(state) {
            return quote!(());
        }
        let name = state.name();
        let args = self.params.apply(&[], &self.used_by(state));
        quote!(#name #args)
    }

    pub(super) fn typed_in(&self, state: &State<'_>) -> TokenStream {
        self.typed_with(self.state_type(state))
    }

    pub(super) fn typed_with(&self, state: impl ToTokens) -> TokenStream {
        let typed = &self.typed;
        let args = self.params.apply(&[state.into_token_stream()], &self.params.every());
        quote!(#typed #args)
    }

    /// `AfterConfirm<T>`, the return type of a choice, given the source state.
    pub(super) fn after_type(&self, trigger: &Trigger<'_>, from: &TokenStream) -> TokenStream {
        let name = after(trigger);
        let from = if trigger.may_stay() { std::slice::from_ref(from) } else { &[] };
        let args = self.params.apply(from, &self.params.every());
        quote!(#name #args)
    }

    pub(super) fn any_type(&self) -> TokenStream {
        let any = &self.any;
        let args = self.params.apply(&[], &self.params.every());
        quote!(#any #args)
    }

    pub(super) fn event_type(&self) -> TokenStream {
        let args = self.params.apply(&[], &self.used_by_events());
        quote!(Event #args)
    }

    pub(super) fn used_by_events(&self) -> Used {
        let brought = self.graph.triggers.iter().flat_map(|trigger| &trigger.brought);
        self.params.in_types(brought.map(|brought| brought.ty))
    }

    /// `<T: Bound>` and `where ..`, for an implementation with all of the user's parameters.
    pub(super) fn for_all(&self) -> (TokenStream, TokenStream) {
        let every = self.params.every();
        (self.params.declare(&[], &every), self.params.where_clause(&every))
    }

    /// `<T: Bound>`, `Open<T>` and `where ..`, for an implementation of a trait by one state.
    pub(super) fn for_state(&self, state: &State<'_>) -> (TokenStream, TokenStream, TokenStream) {
        let used = self.used_by(state);
        (self.params.declare(&[], &used), self.state_type(state), self.params.where_clause(&used))
    }

    /// `<S: Bound, T>` and `where ..`, for an implementation that also has the state's parameter.
    pub(super) fn for_all_and_state(&self, bound: &TokenStream) -> (TokenStream, TokenStream) {
        let every = self.params.every();
        let state = &self.state;
        (self.params.declare(&[quote!(#state #bound)], &every), self.params.where_clause(&every))
    }
}

/// A name for the state parameter that does not shadow any name in `tokens`.
pub(super) fn free_in(tokens: &TokenStream) -> Ident {
    let free = ["S", "State", "From"].into_iter().find(|name| !says(tokens, name));
    format_ident!("{}", free.unwrap_or("AnyOfTheGroup"))
}

/// `Succeed`, the variant of `Event`.
pub(super) fn event(trigger: &Trigger<'_>) -> Ident {
    format_ident!("{}", pascal(trigger.name))
}

/// `AfterConfirm`, the enum of the targets of a choice.
pub(super) fn after(trigger: &Trigger<'_>) -> Ident {
    format_ident!("After{}", event(trigger))
}

/// `MaySucceed`, the trait of the actors that may use the trigger.
pub(super) fn may(trigger: &Trigger<'_>) -> Ident {
    format_ident!("May{}", event(trigger))
}

/// The function that makes the move. Numbered, because joined names of states and triggers could
/// collide.
pub(super) fn step(step: &Move<'_>) -> Ident {
    format_ident!("step_{}_{}", step.from, step.trigger)
}

pub(super) fn guard(step: &Move<'_>) -> Ident {
    format_ident!("guard_{}_{}", step.from, step.trigger)
}

/// The function that computes when the move is due.
pub(super) fn deadline(step: &Move<'_>) -> Ident {
    format_ident!("after_{}_{}", step.from, step.trigger)
}

/// An index into the table, without suffix: `3`, not `3usize`.
pub(super) fn index(place: usize) -> Literal {
    Literal::usize_unsuffixed(place)
}

pub(super) fn path_text(path: &syn::Path) -> String {
    text::of_type(path.to_token_stream())
}

/// The name as an identifier, raw if it is a keyword. Some keywords cannot be raw identifiers, and
/// `machine` would shadow this library; that one was reported.
pub(super) fn keyword_safe(name: &str, like: &Ident) -> Ident {
    if matches!(name, "crate" | "self" | "super" | "machine") {
        return format_ident!("{}_", name, span = like.span());
    }
    // A keyword since edition 2024, which syn parses as an identifier.
    let parsed = if name == "gen" { None } else { syn::parse_str::<Ident>(name).ok() };
    parsed.unwrap_or_else(|| format_ident!("r#{}", name, span = like.span()))
}
