use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;

use super::{
    names::{self, Names},
    serde, transitions,
};
use crate::{
    model::{Move, State},
    text::bare,
};

/// The erased machine, whose state is known only at run time: same rules, errors as values.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let mut parts = vec![item(names), moves(names), conversions(names)];
    // A generic machine would need bounds that only its author knows.
    if !names.durable && names.params.is_empty() && names.graph.derives("Serialize") {
        parts.push(serialize(names));
    }
    quote!(#(#parts)*)
}

fn item(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, .. } = names;
    let about = format!("A [`{typed}`] whose state is known only at run time.");
    let debug = names.debug().then(|| quote!(#[derive(Debug)]));
    let all = names.graph.names();
    let variants = names.graph.states.iter().map(|state| {
        let (name, docs, typed) = (state.name(), &state.written.docs, names.typed_in(state));
        quote!(#(#docs)* #name(#typed))
    });
    let getters = names.getters(
        &quote!(match self { #(Self::#all(machine) => machine.context()),* }),
        &quote!(match self { #(Self::#all(machine) => machine.journal()),* }),
    );
    let defined = names.params.define(&[], &names.params.every());
    let (generics, predicates) = names.for_all();
    let any_type = names.any_type();
    let non_exhaustive = &names.graph.declaration.non_exhaustive;
    quote! {
        #[doc = #about]
        ///
        /// Use `match` to get the typed machine.
        #debug
        #[allow(missing_docs)]
        #non_exhaustive
        pub enum #any #defined #predicates {
            #(#variants),*
        }

        impl #generics #any_type #predicates {
            /// The current state.
            #[must_use]
            pub fn status(&self) -> Status {
                match self { #(Self::#all(_) => Status::#all),* }
            }

            #getters
        }
    }
}

fn moves(names: &Names<'_>) -> TokenStream {
    let arms = names.graph.moves.iter().map(|step| arm(names, step));
    let guards: Vec<_> =
        names.graph.moves.iter().filter_map(|step| guard_arm(names, step)).collect();
    let guards = (!guards.is_empty()).then(|| {
        hygienic! {
            .or_else(|| match (self, event) {
                #(#guards)*
                _ => ::core::option::Option::None,
            })
        }
    });
    let (generics, predicates) = names.for_all();
    let (any, event) = (names.any_type(), names.event_type());
    let admitted = guards.is_some().then(|| make_admitted(names));
    let admit = if guards.is_some() { hygienic!(__admitted) } else { hygienic!(apply) };
    let (given, passed) = actor(names);
    let anyone = (!names.asks_who()).then(|| hygienic!(let by = &__machine::actor::Anyone;));
    hygienic! {
        impl #generics #any #predicates {
            #admitted

            /// Makes the move of `event`.
            ///
            /// # Errors
            ///
            /// The unchanged machine, and why: the state has no such move, the actor may not make
            /// it, or the guard refuses.
            pub fn apply(self, event: #event, #given)
            -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                #anyone
                ::core::result::Result::Ok(match (self, event) {
                    #(#arms)*
                    (machine, event) => {
                        let reason = __machine::typed::Illegal::__new(
                            DEFINITION, machine.status() as usize, event.trigger(),
                            __machine::__private::kind(by),
                        );
                        return ::core::result::Result::Err(
                            __machine::typed::Refused { machine, reason },
                        );
                    }
                })
            }

            /// Makes the move in place. A refusal leaves the machine unchanged.
            ///
            /// # Errors
            ///
            /// Why the move was refused.
            pub fn apply_mut(&mut self, event: #event, #given)
            -> ::core::result::Result<(), __machine::typed::Illegal> {
                // Guards are user code and may panic, so they run before the machine is moved out.
                if let ::core::option::Option::Some(reason) = self.why_not(&event, #passed) {
                    return ::core::result::Result::Err(reason);
                }
                __machine::__private::replace(self, |machine| match machine.#admit(event, #passed) {
                    ::core::result::Result::Ok(machine) => {
                        (::core::result::Result::Ok(()), machine)
                    }
                    ::core::result::Result::Err(refused) => {
                        (::core::result::Result::Err(refused.reason), refused.machine)
                    }
                })
            }

            /// The moves that are legal now for this actor. A guard may still refuse one.
            pub fn available(&self, #given)
            -> impl ::core::iter::Iterator<Item = __machine::definition::Move<'static>> {
                #anyone
                __machine::__private::available(DEFINITION, self.status() as usize, by)
            }

            /// Why `event` would be refused; `None` if it would not.
            #[must_use]
            pub fn why_not(&self, event: &#event, #given)
            -> ::core::option::Option<__machine::typed::Illegal> {
                #anyone
                let state = self.status() as usize;
                __machine::__private::check(DEFINITION, state, event.trigger(), by)
                #guards
            }
        }

        impl #generics __machine::typed::Erased for #any #predicates {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;
            type Event = #event;

            fn state_index(&self) -> usize {
                self.status() as usize
            }

            fn apply(self, event: #event, by: &impl __machine::actor::Actor)
            -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                self.apply(event, #passed)
            }
        }
    }
}

fn conversions(names: &Names<'_>) -> TokenStream {
    let any = names.any_type();
    let conversion = |typed: TokenStream, (generics, predicates), widen, narrow| {
        quote! {
            impl #generics ::core::convert::From<#typed> for #any #predicates {
                fn from(machine: #typed) -> Self {
                    #widen
                }
            }

            impl #generics ::core::convert::TryFrom<#any> for #typed #predicates {
                type Error = #any;

                fn try_from(any: #any) -> ::core::result::Result<Self, #any> {
                    #narrow
                }
            }
        }
    };
    if names.params.is_empty() || names.stub {
        // `AnyState` has the conversions, so one implementation serves all states.
        let (typed, state) = (names.typed_with(&names.state), &names.state);
        // After a mistake, some states may have no types.
        let bound = if names.stub { quote!() } else { quote!(: AnyState) };
        let generics = names.for_all_and_state(&bound);
        return conversion(
            typed,
            generics,
            quote!(#state::widen(machine)),
            quote!(#state::narrow(any)),
        );
    }
    let all = names.graph.states.iter().map(|state| {
        let (name, narrow) = (state.name(), narrow(names, state));
        conversion(names.typed_in(state), names.for_all(), quote!(Self::#name(machine)), narrow)
    });
    quote!(#(#all)*)
}

pub(super) fn narrow(names: &Names<'_>, state: &State<'_>) -> TokenStream {
    let (any, name) = (&names.any, state.name());
    quote! {
        match any {
            #any::#name(machine) => ::core::result::Result::Ok(machine),
            any => ::core::result::Result::Err(any),
        }
    }
}

/// The parameter and the argument for who makes the move, if the machine asks.
fn actor(names: &Names<'_>) -> (Option<TokenStream>, Option<TokenStream>) {
    let asks = names.asks_who();
    (asks.then(|| hygienic!(by: &impl __machine::actor::Actor,)), asks.then(|| hygienic!(by)))
}

/// Makes a move whose guard has already admitted it.
fn make_admitted(names: &Names<'_>) -> TokenStream {
    let event = names.event_type();
    let (given, passed) = actor(names);
    let guarded = names.graph.moves.iter().filter(|step| step.guard.is_some());
    let arms = guarded.map(|step| {
        let (pattern, made) = (pattern(names, step), make_move(names, step));
        hygienic!(#pattern => ::core::result::Result::Ok(#made),)
    });
    hygienic! {
        #[allow(unreachable_patterns)]
        fn __admitted(self, event: #event, #given)
        -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
            match (self, event) {
                #(#arms)*
                (machine, event) => machine.apply(event, #passed),
            }
        }
    }
}

/// The state that a move leaves and its event, with what is needed to make it.
fn pattern(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let (any, from) = (&names.any, names.source(step).name());
    let trigger = names.trigger(step);
    let event = names::event(trigger);
    let items = trigger.items();
    let items = (!items.is_empty()).then(|| hygienic!({ #(#items),* }));
    hygienic!((#any::#from(machine), Event::#event #items))
}

/// The erased machine in its next state; no guard is called.
fn make_move(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let trigger = names.trigger(step);
    let function = names::step(step);
    let items = trigger.items();
    let actor = if step.by.is_empty() {
        names.durable.then(|| hygienic!(__machine::__private::sender(by)))
    } else {
        transitions::actor_value(names, step, || hygienic!(__machine::__private::who(by)))
    };
    let made = if transitions::is_the_method(names, step) {
        let name = trigger.name;
        hygienic!(machine.#name(#(#items),*))
    } else {
        hygienic!(#function(machine, #(#items,)* #actor))
    };
    widen(names, step, &made)
}

/// The machine in its next state, or what a choice returns, as the erased machine.
pub(super) fn widen(names: &Names<'_>, step: &Move<'_>, made: &TokenStream) -> TokenStream {
    let any = &names.any;
    match step.targets.as_slice() {
        [to] if !step.is_choice() => {
            let to = names.graph.states[*to].name();
            hygienic!(#any::#to(#made))
        }
        _ => hygienic!(::core::convert::From::from(#made)),
    }
}

fn arm(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let (any, from, by) = (&names.any, names.source(step).name(), step.by);
    let allowed = (!by.is_empty()).then(|| hygienic!(if #(__machine::__private::is::<#by>(by))||*));
    let (pattern, made) = (pattern(names, step), make_move(names, step));
    let made = if step.guard.is_none() {
        made
    } else {
        let refusal = refusal(names, step);
        let guard = transitions::call_guard(names.graph, step, &hygienic!(&machine), &hygienic!(&));
        hygienic! {
            match #guard {
                ::core::result::Result::Ok(()) => #made,
                ::core::result::Result::Err(reason) => {
                    let reason = #refusal;
                    let machine = #any::#from(machine);
                    return ::core::result::Result::Err(
                        __machine::typed::Refused { machine, reason },
                    );
                }
            }
        }
    };
    hygienic!(#pattern #allowed => #made,)
}

/// The refusal of a guard, for a move that is otherwise legal.
fn guard_arm(names: &Names<'_>, step: &Move<'_>) -> Option<TokenStream> {
    step.guard?;
    let guard = transitions::call_guard(names.graph, step, &hygienic!(machine), &hygienic!());
    let (pattern, refusal) = (pattern(names, step), refusal(names, step));
    Some(hygienic! {
        #pattern => {
            let reason = #guard.err()?;
            ::core::option::Option::Some(#refusal)
        }
    })
}

/// The refusal with the guard's error, spanned at its declared type, which must implement
/// `Display`.
fn refusal(names: &Names<'_>, step: &Move<'_>) -> TokenStream {
    let place = step.guard.map_or(step.written.trigger.span(), |guard| guard.written.error.span());
    let (state, text) = (names::index(step.from), bare(names.trigger(step).name));
    let reason = hygienic_at!(place => &reason);
    hygienic!(__machine::typed::Illegal::__guard(DEFINITION, #state, #text, #reason))
}

/// A plain machine serializes as its state. It has no `Deserialize`: without a journal, nothing
/// could verify it.
fn serialize(names: &Names<'_>) -> TokenStream {
    let any = &names.any;
    let any_text = any.to_string();
    let arms = names.graph.states.iter().enumerate().map(|(index, state)| {
        let (name, stored) = (state.name(), &state.stored);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        quote! {
            Self::#name(machine) => serializer.serialize_newtype_variant(
                #any_text, #index, #stored, machine.state(),
            )
        }
    });
    serde::serialize(&quote!(#any), &quote!(), &quote!(match self { #(#arms),* }))
}
