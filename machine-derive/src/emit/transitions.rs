use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;

use super::names::{self, Names};
use crate::{
    model::{Graph, Move, Source, State, Trigger, bare},
    parse::Guard,
};

/// A method per legal move, on the state that it leaves, and nowhere else.
///
/// Where not everyone may call the method, the work stands in a function beside it, which the
/// erased machine calls as well: one code, so that the two forms cannot come to differ. Its own
/// variables have the span of the macro, so that a payload may be called `payload`, or `by`.
///
/// A move that was declared for a whole group is a method of the group; see `groups`.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let (generics, predicates) = names.for_all();
    let mut edges = graph.moves.iter().enumerate().peekable();
    let states = graph.states.iter().enumerate().map(|(index, state)| {
        let mut methods = TokenStream::new();
        let mut beside = TokenStream::new();
        while let Some((edge, step)) = edges.next_if(|(_, step)| step.from == index) {
            if graph.group_of(step).is_none() {
                methods.extend(method(graph, names, edge, step));
            }
            beside.extend(guard(graph, names, step));
            if !is_the_method(graph, step) {
                beside.extend(function(graph, names, edge, step));
            }
        }
        let here = names.typed_in(state);
        let methods =
            (!methods.is_empty()).then(|| hygienic!(impl #generics #here #predicates { #methods }));
        hygienic!(#methods #beside)
    });
    hygienic!(#(#states)*)
}

/// Whether the method itself is all that the erased machine needs.
pub(super) fn is_the_method(graph: &Graph<'_>, step: &Move<'_>) -> bool {
    step.by.is_empty() && step.guard.is_none() && graph.group_of(step).is_none()
}

fn method(graph: &Graph<'_>, names: &Names<'_>, edge: usize, step: &Move<'_>) -> TokenStream {
    let (from, to) = (&graph.states[step.from], &graph.states[step.to]);
    let trigger = &graph.triggers[step.trigger];
    let name = trigger.name;
    let params = params(graph, step);
    let result = result(graph, names, step, &hygienic!(Self));
    let errors = step.guard.map(|_| errors());
    let about = format!("{} to {}.", from.label, to.label);

    let restricted = !step.by.is_empty();
    // No type parameter: it would hide a state or a type of the user's that has its name.
    let by = restricted.then(|| {
        let (may, from) = (names::may(trigger), names.state_type(from));
        hygienic!(by: &impl #may<#from>)
    });
    let body = if is_the_method(graph, step) {
        let renamed = trigger.brought.iter().filter_map(|brought| {
            let (name, local) = (brought.name, local(from, brought.name));
            (local != *name).then(|| hygienic!(let #local = #name;))
        });
        let actor = names.durable.then(|| hygienic!(let actor = ::core::option::Option::None;));
        let body = body(graph, names, edge, step);
        // Of a machine that keeps nothing, nothing is looked at.
        let machine =
            (names.keeps(graph) || uses_source(step)).then(|| hygienic!(let machine = self;));
        hygienic!(#machine #(#renamed)* #actor #body)
    } else {
        let actor = actor_by_permission(names, trigger, step);
        step_of(graph, step, &hygienic!(self), actor.as_ref())
    };
    hygienic! {
        #[doc = #about]
        #errors
        pub fn #name(self, #(#params,)* #by) -> #result {
            #body
        }
    }
}

/// What the method returns: the machine in its next state, or, where a guard may refuse, a result.
pub(super) fn result(
    graph: &Graph<'_>,
    names: &Names<'_>,
    step: &Move<'_>,
    machine: &TokenStream,
) -> TokenStream {
    let next = names.typed_in(&graph.states[step.to]);
    match step.guard {
        None => next,
        Some(Guard { error, .. }) => {
            hygienic!(::core::result::Result<#next, __machine::typed::Refused<#machine, #error>>)
        }
    }
}

/// What the docs of a guarded method say of its error.
pub(super) fn errors() -> TokenStream {
    let about = "# Errors\n\nThe machine as it was, when the guard refuses.";
    hygienic!(#[doc = ""] #[doc = #about])
}

/// Asks the guard, if there is one, and makes the move by the function beside the method.
pub(super) fn step_of(
    graph: &Graph<'_>,
    step: &Move<'_>,
    machine: &TokenStream,
    actor: Option<&TokenStream>,
) -> TokenStream {
    let function = names::step(step);
    let brought = &graph.triggers[step.trigger].brought;
    let items: Vec<_> = brought.iter().map(|brought| brought.name).collect();
    let made = hygienic!(#function(#machine, #(#items,)* #actor));
    if step.guard.is_none() {
        return made;
    }
    let borrowed: Vec<_> = items.iter().map(|item| hygienic!(&#item)).collect();
    let refused = guarded(step, &hygienic!(&#machine), &borrowed);
    hygienic! {
        match #refused {
            ::core::result::Result::Ok(()) => ::core::result::Result::Ok(#made),
            ::core::result::Result::Err(reason) => ::core::result::Result::Err(
                __machine::typed::Refused { machine: #machine, reason },
            ),
        }
    }
}

/// The call of the guard for a machine and a payload, both of which are borrowed.
pub(super) fn guarded(
    step: &Move<'_>,
    machine: &TokenStream,
    items: &[TokenStream],
) -> TokenStream {
    let function = names::guard(step);
    hygienic!(#function(#machine, #(#items),*))
}

/// The one place where the user's guard is called; what does not fit is told of its path.
fn guard(graph: &Graph<'_>, names: &Names<'_>, step: &Move<'_>) -> Option<TokenStream> {
    let Guard { path, error } = step.guard?;
    let function = names::guard(step);
    let here = names.typed_in(&graph.states[step.from]);
    let (generics, predicates) = names.for_all();
    let brought = &graph.triggers[step.trigger].brought;
    let params = brought.iter().map(|brought| {
        let (name, ty) = (brought.name, brought.ty);
        hygienic!(#name: &#ty)
    });
    let items = brought.iter().map(|brought| brought.name);
    let span = Span::mixed_site().located_at(path.span());
    let machine = quote_spanned!(span=> machine);
    let context = Names::has_context(graph).then(|| quote_spanned!(span=> #machine.context(),));
    let call = quote_spanned!(span=> #path(#machine.state(), #context #(#items),*));
    Some(hygienic! {
        fn #function #generics (
            #machine: &#here,
            #(#params),*
        ) -> ::core::result::Result<(), #error> #predicates {
            #call
        }
    })
}

/// What the journal calls the actor, who is asked for it by `kind`; nothing where there is none.
pub(super) fn actor_value(
    names: &Names<'_>,
    step: &Move<'_>,
    kind: impl FnOnce() -> TokenStream,
) -> Option<TokenStream> {
    names.durable.then(|| {
        if step.by.is_empty() {
            hygienic!(::core::option::Option::None)
        } else {
            let kind = kind();
            hygienic!(::core::option::Option::Some(#kind))
        }
    })
}

/// The same where the compiler has asked whether the actor may.
pub(super) fn actor_by_permission(
    names: &Names<'_>,
    trigger: &Trigger<'_>,
    step: &Move<'_>,
) -> Option<TokenStream> {
    actor_value(names, step, || {
        let may = names::may(trigger);
        hygienic!(#may::__kind(by))
    })
}

/// What the caller brings, as parameters.
pub(super) fn params(graph: &Graph<'_>, step: &Move<'_>) -> Vec<TokenStream> {
    let brought = graph.triggers[step.trigger].brought.iter();
    brought
        .map(|brought| {
            let (name, ty) = (brought.name, brought.ty);
            hygienic!(#name: #ty)
        })
        .collect()
}

fn function(graph: &Graph<'_>, names: &Names<'_>, edge: usize, step: &Move<'_>) -> TokenStream {
    let (from, to) = (&graph.states[step.from], &graph.states[step.to]);
    let (here, next) = (names.typed_in(from), names.typed_in(to));
    let (generics, predicates) = names.for_all();
    let function = names::step(step);
    let params = graph.triggers[step.trigger].brought.iter().map(|brought| {
        let (name, ty) = (local(from, brought.name), brought.ty);
        hygienic!(#name: #ty)
    });
    let actor = names.durable.then(|| hygienic!(actor: ::core::option::Option<&'static str>));
    let body = body(graph, names, edge, step);
    hygienic! {
        fn #function #generics (machine: #here, #(#params,)* #actor) -> #next #predicates {
            #body
        }
    }
}

/// The work of a move, given `machine`, what is brought and, where there is a journal, `actor`.
fn body(graph: &Graph<'_>, names: &Names<'_>, edge: usize, step: &Move<'_>) -> TokenStream {
    let (typed, edge) = (&names.typed, names::index(edge));
    let from = &graph.states[step.from];
    let journal = names.durable.then(|| {
        let items = graph.triggers[step.trigger].brought.iter().map(|brought| {
            let (name, text) = (local(from, brought.name), bare(brought.name));
            hygienic!(.__with(#text, &#name))
        });
        hygienic! {
            let mut core = machine.core;
            let payload =
                <__machine::__private::Payload as ::core::default::Default>::default() #(#items)*;
            core.journal.__moved(DEFINITION, #edge, actor, payload);
        }
    });
    let kept = match (names.durable, Names::has_context(graph)) {
        (true, _) => hygienic!(core,),
        (false, true) => hygienic!(context: machine.context,),
        (false, false) => hygienic!(),
    };
    let marker = names.params.marker().map(|_| hygienic!(marker: ::core::marker::PhantomData,));
    let (bindings, state) = next_state(graph, step);
    hygienic!(#journal #bindings #typed { #kept #marker state: #state })
}

/// What must be bound first, and the state that is built from it.
fn next_state(graph: &Graph<'_>, step: &Move<'_>) -> (TokenStream, TokenStream) {
    let (from, to) = (&graph.states[step.from], graph.states[step.to].name());
    // Fields of the source are bound only where something uses them.
    let open = (uses_source(step) && !from.written.fields.is_empty()).then(|| {
        let name = from.name();
        let fields = from.written.fields.iter().map(|field| &field.ident);
        hygienic!(let #name { #(#fields),* } = machine.state;)
    });
    // Computed fields come first: they may look at fields that are then carried away.
    let computed = step.fields.iter().filter_map(|(field, source)| match source {
        Source::Computed(expr) => {
            let (name, ty) = (&field.ident, &field.ty);
            let fresh = computed_name(name.as_ref()?);
            Some(hygienic!(let #fresh: #ty = #expr;))
        }
        Source::Brought | Source::Carried => None,
    });
    let fields = step.fields.iter().filter_map(|(field, source)| {
        let name = field.ident.as_ref()?;
        Some(match source {
            Source::Computed(_) => {
                let fresh = computed_name(name);
                hygienic!(#name: #fresh)
            }
            Source::Brought => {
                let brought = local(from, name);
                hygienic!(#name: #brought)
            }
            Source::Carried => hygienic!(#name),
        })
    });
    let state =
        if step.fields.is_empty() { hygienic!(#to) } else { hygienic!(#to { #(#fields),* }) };
    (hygienic!(#open #(#computed)*), state)
}

/// Whether the target takes anything from the source.
fn uses_source(step: &Move<'_>) -> bool {
    step.fields.iter().any(|(_, source)| !matches!(source, Source::Brought))
}

/// The variable for what is brought. A field of the source that has the same name would hide it.
fn local(from: &State<'_>, name: &Ident) -> Ident {
    let hidden = from.written.fields.iter().any(|field| field.ident.as_ref() == Some(name));
    if hidden {
        let span = Span::mixed_site().located_at(name.span());
        format_ident!("brought_{}", bare(name), span = span)
    } else {
        name.clone()
    }
}

fn computed_name(field: &Ident) -> Ident {
    format_ident!("computed_{}", bare(field), span = Span::mixed_site())
}
