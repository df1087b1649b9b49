//! Deadlines: when a move is due, and making it without a caller.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

use super::{
    bindings, erased,
    names::{self, Names},
    start, transitions,
};
use crate::{
    model::{Move, State},
    text::bare,
};

pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let max_calls =
        (0..names.graph.states.len()).map(|state| names.graph.deadlines(state).count()).max();
    let written = || names.graph.declaration.all_transitions().any(|step| step.after.is_some());
    let is_any = |max_calls: &usize| *max_calls > 0 || names.stub && written();
    let Some(max_calls) = max_calls.filter(is_any) else { return TokenStream::new() };
    let functions = names.graph.moves.iter().filter_map(|step| function(names, step));
    let states = names.graph.states.iter().enumerate();
    let of_states = states.map(|(index, state)| of_state(names, (index, state), max_calls));
    let erased = erased_machine(names);
    quote!(#(#functions)* #(#of_states)* #erased)
}

fn function(names: &Names<'_>, step: &Move<'_>) -> Option<TokenStream> {
    let after = step.written.after.as_ref()?;
    let state = names.source(step);
    let function = names::deadline(step);
    let here = names.state_type(state);
    let (generics, predicates) = names.for_all();
    let (bindings, resolved) = bindings::of_state(names, state, after.to_token_stream());
    let context = &names.context;
    let param = names.has_context().then(|| hygienic!(context: &#context));
    let text = bare(names.trigger(step).name);
    let value = if step.written.is_at {
        hygienic_at!(after.span() => __machine::__private::at(#text, #resolved))
    } else {
        hygienic_at!(after.span() => __machine::__private::after(#text, #resolved))
    };
    Some(hygienic! {
        fn #function #generics (state: &#here, #param)
        -> ::core::option::Option<__machine::typed::Deadline> #predicates {
            #bindings
            #value
        }
    })
}

fn of_state(
    names: &Names<'_>,
    (index, state): (usize, &State<'_>),
    max_calls: usize,
) -> TokenStream {
    let (typed, (generics, predicates)) = (names.typed_in(state), names.for_all());
    let calls: Vec<_> = names
        .graph
        .deadlines(index)
        .map(|step| start::call(names, step, &hygienic!(&self.state), &hygienic!(self.context())))
        .collect();
    let none = (calls.len()..max_calls).map(|_| hygienic!(::core::option::Option::None));
    let size = names::index(max_calls);
    hygienic! {
        impl #generics #typed #predicates {
            /// The transitions that are due when some time has passed, counted from
            /// entering this state or, for a group's deadline, the group.
            pub fn deadlines(&self)
            -> impl ::core::iter::Iterator<Item = __machine::typed::Deadline> {
                self.__deadlines().into_iter().flatten()
            }

            fn __deadlines(&self) -> [::core::option::Option<__machine::typed::Deadline>; #size] {
                [#(#calls,)* #(#none),*]
            }
        }
    }
}

fn erased_machine(names: &Names<'_>) -> TokenStream {
    let any_type = names.any_type();
    let (generics, predicates) = names.for_all();
    let all = names.graph.names();
    let fired = (0..names.graph.states.len()).flat_map(|state| names.graph.deadlines(state));
    let fired = fired.map(|step| arm(names, step));
    let now = names.durable.then(|| hygienic!(now: __machine::clock::Millis,));
    let about = if names.durable {
        "Makes the move of a deadline that is due at `now` (milliseconds since the Unix epoch, by the \
         clock of the store)."
    } else {
        "Makes the move of a deadline. The caller checks that it is due."
    };
    hygienic! {
        impl #generics #any_type #predicates {
            /// The transitions that are due when some time has passed, counted from
            /// entering the state or, for a group's deadline, the group.
            pub fn deadlines(&self)
            -> impl ::core::iter::Iterator<Item = __machine::typed::Deadline> {
                let all = match self { #(Self::#all(machine) => machine.__deadlines()),* };
                all.into_iter().flatten()
            }

            #[doc = #about]
            ///
            /// # Errors
            ///
            /// The unchanged machine, and the reason: the state has no such deadline, it is not due
            /// yet, or the guard refuses, which leaves it due.
            pub fn fire_deadline(self, trigger: &str, #now)
            -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                let (machine, reason) = match (self, trigger) {
                    #(#fired)*
                    (machine, _) => (machine, __machine::typed::Reason::NoDeadline),
                };
                let state = machine.status() as usize;
                let reason =
                    __machine::typed::Illegal::__deadline(DEFINITION, state, trigger, reason);
                ::core::result::Result::Err(__machine::typed::Refused { machine, reason })
            }
        }
    }
}

/// Fires a deadline of one state, or returns the machine and the reason.
fn arm(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let any = &names.any;
    let from = names.source(step).name();
    let text = bare(names.trigger(step).name);
    let was = names.graph.was_of(step.trigger);
    let function = names::step(step);
    let by = step.by;
    let actor = transitions::actor_value(
        names,
        step,
        || hygienic!(#(__machine::__private::unnamed(<#by as __machine::actor::Actor>::KIND))*),
    );
    let made = hygienic!(#function(machine, #actor));
    let made = erased::widen(names, step, &made);
    let made = hygienic!(return ::core::result::Result::Ok(#made));
    let asked = if step.guard.is_some() {
        let guard = transitions::call_guard(names.graph, step, &hygienic!(&machine), &hygienic!());
        hygienic! {
            match #guard {
                ::core::result::Result::Ok(()) => #made,
                ::core::result::Result::Err(reason) => (
                    #any::#from(machine),
                    __machine::typed::Reason::__due_but_refused(&reason),
                ),
            }
        }
    } else {
        made
    };
    let asked = if names.durable {
        let edge = names::index(step.first_edge);
        hygienic! {
            match machine.core.__journal().__not_due(DEFINITION, #edge, now) {
                ::core::option::Option::Some(reason) => (#any::#from(machine), reason),
                ::core::option::Option::None => #asked,
            }
        }
    } else {
        asked
    };
    hygienic!((#any::#from(machine), #text #(| #was)*) => { #asked })
}
