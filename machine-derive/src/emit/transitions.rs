use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::{
    body,
    names::{self, Names},
};
use crate::{
    model::{Graph, Move, Trigger},
    text::bare,
};

/// A method per legal move, on the state that it leaves, and nowhere else.
///
/// Unless the erased machine can call the method itself, the work is done by a separate function,
/// which both call, so that the two forms cannot come to differ. Its own variables
/// have the span of the macro, so that a payload may be called `payload`, or `by`.
///
/// A move that was declared for a whole group is a method of the group; see `groups`.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let (generics, predicates) = names.for_all();
    let mut moves = names.graph.moves.iter().peekable();
    let states = names.graph.states.iter().enumerate().map(|(index, state)| {
        let mut methods = TokenStream::new();
        let mut functions = TokenStream::new();
        while let Some(step) = moves.next_if(|step| step.from == index) {
            if names.graph.group_of(step).is_none() {
                methods.extend(method(names, step));
            }
            functions.extend(guard(names, step));
            if !is_the_method(names, step) {
                functions.extend(function(names, step));
            }
        }
        let here = names.typed_in(state);
        let methods =
            (!methods.is_empty()).then(|| hygienic!(impl #generics #here #predicates { #methods }));
        hygienic!(#methods #functions)
    });
    hygienic!(#(#states)*)
}

/// True if the erased machine can call the method itself. In a durable machine it never can: it
/// knows who makes the move, which the method of a move without `by` does not.
pub(super) fn is_the_method(names: &Names<'_>, step: &Move<'_>) -> bool {
    let is_plain = step.by.is_empty() && step.guard.is_none();
    !names.durable && is_plain && names.graph.group_of(step).is_none()
}

fn method(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let from = names.source(step);
    let trigger = names.trigger(step);
    let name = trigger.name;
    let params = params(names.graph, step);
    let result = result(names, step, &hygienic!(Self), &names.state_type(from));
    let about = format!("{} to {}.", from.label, names.graph.targets_text(step));
    let docs = docs(names, step, &about);
    // No type parameter: it would hide a state or a type of the user's that has its name.
    let by = (!step.by.is_empty()).then(|| {
        let (may, from) = (names::may(trigger), names.state_type(from));
        hygienic!(by: &impl #may<#from>)
    });
    let lints = body::lints(step);
    let body = if is_the_method(names, step) {
        let renamed = trigger.brought.iter().filter_map(|brought| {
            let (name, local) = (brought.name, body::local(from, brought.name));
            (local != *name).then(|| hygienic!(let #local = #name;))
        });
        let body = body::emit(names, step);
        // Not used if the machine keeps nothing.
        let keeps = names.durable || names.has_context() || body::uses_source(step);
        let machine = keeps.then(|| hygienic!(let machine = self;));
        hygienic!(#machine #(#renamed)* #body)
    } else {
        let actor = actor_by_permission(names, trigger, step);
        step_of(names.graph, step, &hygienic!(self), actor.as_ref())
    };
    hygienic! {
        #docs
        #lints
        pub fn #name(self, #(#params,)* #by) -> #result {
            #body
        }
    }
}

/// The documentation of a method: the doc comment of the transition, `about`, that it takes no
/// actor, where a journal could name one, and what a guard does.
pub(super) fn docs(names: &Names<'_>, step: &Move<'_>, about: &str) -> TokenStream {
    let docs = &step.written.docs;
    let docs = (!docs.is_empty()).then(|| hygienic!(#(#docs)* #[doc = ""]));
    let unnamed = (names.durable && step.by.is_empty()).then(|| {
        let about = format!(
            "It takes no actor, so the journal names none; [`{}::apply`] records its actor.",
            names.any
        );
        hygienic!(#[doc = ""] #[doc = #about])
    });
    let errors = step.guard.map(|_| {
        let about = "# Errors\n\nThe machine as it was, when the guard refuses.";
        hygienic!(#[doc = ""] #[doc = #about])
    });
    hygienic!(#docs #[doc = #about] #unnamed #errors)
}

/// The return type of the method: the machine in its next state or, for a choice, its outcome; if a
/// guard may refuse, in a result. `machine` is the type of the machine that is moved, and `state`
/// that of its state.
pub(super) fn result(
    names: &Names<'_>,
    step: &Move<'_>,
    machine: &TokenStream,
    state: &TokenStream,
) -> TokenStream {
    let refusal = names.trigger(step).refusal.filter(|_| step.guard.is_some());
    fallible(refusal, &next(names, step, state), machine)
}

/// Wraps a return type in a result, if a guard may refuse with this error.
pub(super) fn fallible(
    refusal: Option<&Type>,
    next: &TokenStream,
    machine: &TokenStream,
) -> TokenStream {
    match refusal {
        None => next.clone(),
        Some(error) => {
            hygienic!(::core::result::Result<#next, __machine::typed::Refused<#machine, #error>>)
        }
    }
}

fn next(names: &Names<'_>, step: &Move<'_>, state: &TokenStream) -> TokenStream {
    match step.leads.as_slice() {
        _ if step.is_choice() => names.after_type(names.trigger(step), state),
        [target] if !target.stays => names.typed_in(&names.graph.states[target.to]),
        _ => names.typed_with(state),
    }
}

/// Calls the guard, if there is one, and makes the move through the separate function.
pub(super) fn step_of(
    graph: &Graph<'_>,
    step: &Move<'_>,
    machine: &TokenStream,
    actor: Option<&TokenStream>,
) -> TokenStream {
    let (function, items) = (names::step(step), graph.triggers[step.trigger].items());
    let made = hygienic!(#function(#machine, #(#items,)* #actor));
    if step.guard.is_none() {
        return made;
    }
    let verdict = call_guard(graph, step, &hygienic!(&#machine), &hygienic!(&));
    hygienic! {
        match #verdict {
            ::core::result::Result::Ok(()) => ::core::result::Result::Ok(#made),
            ::core::result::Result::Err(reason) => ::core::result::Result::Err(
                __machine::typed::Refused { machine: #machine, reason },
            ),
        }
    }
}

/// The call of the guard for a machine that is borrowed, with `borrow` before each item.
pub(super) fn call_guard(
    graph: &Graph<'_>,
    step: &Move<'_>,
    machine: &TokenStream,
    borrow: &TokenStream,
) -> TokenStream {
    let (function, items) = (names::guard(step), graph.triggers[step.trigger].items());
    hygienic!(#function(#machine, #(#borrow #items),*))
}

/// The function that calls the user's guard; type errors are reported at its path.
fn guard(names: &Names<'_>, step: &Move<'_>) -> Option<TokenStream> {
    let guard = step.guard?;
    let path = &guard.written.path;
    let trigger = names.trigger(step);
    // Every guard of a trigger refuses with the type of the first.
    let error = trigger.refusal?;
    let function = names::guard(step);
    let here = names.typed_in(names.source(step));
    let (generics, predicates) = names.for_all();
    let items = trigger.brought.iter().map(|brought| {
        let mut item: Ident = brought.name.clone();
        item.set_span(Span::mixed_site().located_at(item.span()));
        item
    });
    let items: Vec<Ident> = items.collect();
    let params = trigger.brought.iter().zip(&items).map(|(brought, item)| {
        let ty = brought.ty;
        hygienic!(#item: &#ty)
    });
    let span = Span::mixed_site().located_at(path.span());
    let machine = quote_spanned!(span=> machine);
    let context = names.has_context().then(|| quote_spanned!(span=> #machine.context(),));
    let called = quote_spanned!(span=> guard);
    let call = quote_spanned!(span=> #called(#machine.state(), #context #(#items),*));
    // Asks for the signature before the call, because rustc would suggest changes to the call,
    // which is generated. The types are those of the guard, so that arguments can be coerced to
    // them.
    let number = 1 + usize::from(context.is_some()) + items.len();
    let types: Vec<Ident> = (0..number).map(|place| format_ident!("T{}", place)).collect();
    // A wrong number of arguments is rustc's error, which says this name and nothing else of ours.
    let mut taken = vec!["state".to_owned()];
    taken.extend(context.iter().map(|_| "context".to_owned()));
    taken.extend(items.iter().map(|item| bare(item).trim_matches('_').to_owned()));
    let takes = format_ident!("guard_takes_references_to_{}", taken.join("_and_"), span = span);
    // Not a path alone, which rustc would suggest to wrap in a closure.
    let asked = quote_spanned!(span=> #takes((#path,).0));
    let takes = format_ident!("{}", takes, span = Span::mixed_site());
    let asks = if cfg!(feature = "alloc") {
        hygienic! {
            fn #takes<'a, #(#types: ?::core::marker::Sized + 'a,)* V>(
                guard: impl ::core::ops::FnOnce(#(&'a #types),*) -> V + 'a,
            ) -> __machine::__private::Box<dyn ::core::ops::FnOnce(#(&'a #types),*) -> V + 'a> {
                __machine::__private::Box::new(guard)
            }
        }
    } else {
        hygienic! {
            fn #takes<'a, #(#types: ?::core::marker::Sized + 'a,)* V>(
                guard: fn(#(&'a #types),*) -> V,
            ) -> fn(#(&'a #types),*) -> V {
                guard
            }
        }
    };
    let found = &guard.written.error;
    let verdict = quote_spanned!(span=> __machine::typed::Verdict::<#found>::into_result(#call));
    let verdict = match guard.same {
        None => verdict,
        Some(same) => {
            let convert = body::convert(&names.graph.same[same]);
            hygienic!(#verdict.map_err(|error| #convert(error)))
        }
    };
    Some(hygienic! {
        fn #function #generics (
            #machine: &#here,
            #(#params),*
        ) -> ::core::result::Result<(), #error> #predicates {
            #asks
            let #called = #asked;
            #verdict
        }
    })
}

/// The actor's name for the journal, given by `kind`; `None` without a journal.
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

/// The actor's name for the journal, in a method whose actor the compiler has checked.
pub(super) fn actor_by_permission(
    names: &Names<'_>,
    trigger: &Trigger<'_>,
    step: &Move<'_>,
) -> Option<TokenStream> {
    actor_value(names, step, || {
        let may = names::may(trigger);
        hygienic!(#may::__who(by))
    })
}

pub(super) fn params(graph: &Graph<'_>, step: &Move<'_>) -> Vec<TokenStream> {
    let brought = graph.triggers[step.trigger].brought.iter();
    brought
        .map(|brought| {
            let (name, ty) = (brought.name, brought.ty);
            hygienic!(#name: #ty)
        })
        .collect()
}

pub(super) fn actor_param(names: &Names<'_>) -> Option<TokenStream> {
    names.durable.then(|| hygienic!(actor: ::core::option::Option<__machine::__private::Who<'_>>))
}

fn function(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let from = names.source(step);
    let here = names.typed_in(from);
    let next = next(names, step, &names.state_type(from));
    let (generics, predicates) = names.for_all();
    let function = names::step(step);
    let params = names.trigger(step).brought.iter().map(|brought| {
        let (name, ty) = (body::local(from, brought.name), brought.ty);
        hygienic!(#name: #ty)
    });
    let actor = actor_param(names);
    let lints = body::lints(step);
    let body = body::emit(names, step);
    hygienic! {
        #lints
        fn #function #generics (machine: #here, #(#params,)* #actor) -> #next #predicates {
            #body
        }
    }
}
