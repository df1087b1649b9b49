//! What only the compiler can decide of the calls that states make: whether the items of the
//! outcomes have the types of the tool, and whether an irreversible call needs a person on the way
//! to it.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

use super::names::{Names, path_text};
use crate::{
    message::{self, Message},
    model::{Brought, Graph, Invocation, State},
    parse::Approve,
    role::Role,
    text::{bare, pascal},
};

pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let mut proofs = Proofs::default();
    for (index, invocation) in names.graph.invocations() {
        let state = &names.graph.states[index];
        for outcome in &invocation.written.outcomes {
            let trigger = names.graph.trigger_index.get(&bare(&outcome.trigger));
            let trigger = trigger.map(|trigger| &names.graph.triggers[*trigger]);
            let brought = trigger.map(|trigger| &*trigger.brought).unwrap_or_default();
            proofs.outcome(state, invocation, (outcome.role, &outcome.trigger), brought);
        }
        proofs.attendance(names, index, invocation);
        proofs.need(state, invocation);
        proofs.leaving(names.graph, index, invocation);
    }
    let Proofs { traits, impls, asked, person } = proofs;
    let person = person.then(person_of_the_library);
    quote! {
        // Rustc names the trait of a bound that does not hold, so these names are to be read.
        mod invoked {
            #traits
            #person
        }
        #impls
        const _: fn() = || {
            #[allow(unused_imports)]
            use __machine::__private::NotCallable as _;
            #asked
        };
    }
}

/// The effects for which a person has to be there.
const NEEDING: [&str; 2] = ["Irreversible", "AnswersLater"];

#[derive(Default)]
struct Proofs {
    /// The traits, each with the message if it does not hold.
    traits: TokenStream,
    /// Implementations with the user's paths.
    impls: TokenStream,
    /// Requires what must hold.
    asked: TokenStream,
    person: bool,
}

impl Proofs {
    /// Requires the items of a trigger to have the types of what its role brings.
    fn outcome(
        &mut self,
        state: &State<'_>,
        invocation: &Invocation<'_>,
        (role, trigger): (Role, &Ident),
        brought: &[Brought<'_>],
    ) {
        let expected = match role {
            Role::Done if invocation.written.is_set => &["outcomes"][..],
            Role::Done => &["receipt"],
            Role::Failed => &["error"],
            Role::Each => &["outcome", "index"],
        };
        for (place, (item, expected)) in brought.iter().zip(expected).enumerate() {
            let name =
                format_ident!("{}Of{}Takes{}", pascal(trigger), state.name(), pascal(item.name));
            let message = if place == 0 {
                message::outcome_differs(trigger, item.name, role, &invocation.written.name)
            } else {
                message::index_differs(trigger, item.name)
            };
            let label = format!("the outcome of `{}` in {}", invocation.written.name, state.label);
            let declared = declared(&name, &message, &label, &quote!(<T>));
            let (found, tool, expected) = (item.ty, invocation.tool, format_ident!("{}", expected));
            self.traits.extend(quote! {
                #declared

                #[diagnostic::do_not_recommend]
                impl<T> #name<T> for T {}
            });
            self.asked.extend(hygienic_at!(item.name.span() => {
                fn takes<T: invoked::#name<Outcome>, Outcome>(
                    _: ::core::marker::PhantomData<(T, Outcome)>,
                ) {}
                let outcome = __machine::__private::OfTool::<#tool>::NEW.#expected();
                takes(__machine::__private::paired::<#found, _>(outcome));
            }));
        }
    }

    /// Requires the tool to be idempotent, unless a person is there.
    fn attendance(&mut self, names: &Names<'_>, index: usize, invocation: &Invocation<'_>) {
        let written = invocation.written;
        if written.unattended.is_some() || matches!(written.approve, Some(Approve::Always)) {
            return;
        }
        let state = &names.graph.states[index];
        let path = names.graph.unattended_path(index);
        let shown = path.as_deref().unwrap_or_default();
        let message = match written.asks_if() {
            None => message::unattended(state.name(), shown),
            Some(function) => message::approved_at_times(state.name(), shown, &path_text(function)),
        };
        let name = format_ident!("{}IsAttended", state.name());
        if path.is_none() {
            // The table has the name of the type only.
            let people = names.graph.people();
            self.person = true;
            for effect in NEEDING {
                let effect = Ident::new(effect, Span::call_site());
                self.impls.extend(quote! {
                    impl invoked::#name for __machine::contract::#effect
                    where
                        #(for<'__> #people: invoked::IsAPerson,)*
                    {
                    }
                });
            }
        }
        self.effect(invocation, (name, "attended"), &message, &written.name, &["Idempotent"]);
    }

    /// Requires the tool to be one for which `unattended` means something.
    fn need(&mut self, state: &State<'_>, invocation: &Invocation<'_>) {
        let written = invocation.written;
        if written.unattended.is_some() {
            let rule = (format_ident!("{}NeedsNoPerson", state.name()), "unattended");
            let message = message::unattended_without_need(&written.name);
            self.effect(invocation, rule, &message, &written.name, &NEEDING);
        }
    }

    /// Requires the tool to be idempotent where transitions would leave calls that are under way.
    fn leaving(&mut self, graph: &Graph<'_>, index: usize, invocation: &Invocation<'_>) {
        let (state, invoked) = (&graph.states[index], &invocation.written.name);
        for outcome in &invocation.written.outcomes {
            let Some(step) = graph.leaves_too_early(index, outcome.role) else { continue };
            let trigger = &step.written.trigger;
            let message = match outcome.role {
                Role::Each => message::each_leaves(trigger, state.name(), invoked),
                Role::Done | Role::Failed => {
                    message::overdue_leaves(trigger, state.name(), invoked)
                }
            };
            let rule = format_ident!("{}MayLeave{}", pascal(trigger), state.name());
            self.effect(invocation, (rule, "leaves"), &message, trigger, &["Idempotent"]);
        }
        for (detached, end) in graph.left_behind(index) {
            let (trigger, from) = (&end.written.trigger, graph.states[end.from].name());
            let left = &detached.written.trigger;
            let rule = format_ident!("{}Of{from}MayEndAfter{}", pascal(trigger), state.name());
            let message = message::left_behind(trigger, from, left, state.name(), invoked);
            self.effect(invocation, (rule, "ends"), &message, trigger, &["Idempotent"]);
        }
    }

    /// Requires the tool of an invocation to have one of these effects. Rustc names the trait and
    /// the function of the rule, at the mistake or where it can be repaired.
    fn effect(
        &mut self,
        invocation: &Invocation<'_>,
        (name, bound): (Ident, &str),
        message: &Message,
        at: &Ident,
        effects: &[&str],
    ) {
        let label = format!("the effect of `{}` is `{{Self}}`", invocation.written.name);
        let declared = declared(&name, message, &label, &TokenStream::new());
        let effects = effects.iter().map(|effect| Ident::new(effect, Span::call_site()));
        self.traits.extend(quote! {
            #declared

            #(
                #[diagnostic::do_not_recommend]
                impl #name for super::__machine::contract::#effects {}
            )*
        });
        let tool = invocation.tool;
        let span = at.span();
        let bound = Ident::new(bound, Span::mixed_site().located_at(span));
        self.asked.extend(hygienic_at!(span => {
            fn #bound<Effect: invoked::#name>(_: ::core::marker::PhantomData<Effect>) {}
            #bound(__machine::__private::OfTool::<#tool>::NEW.effect());
        }));
    }
}

/// A trait with this message if it does not hold, in which `{Self}` and `{T}` stand for types.
fn declared(name: &Ident, message: &Message, label: &str, params: &TokenStream) -> TokenStream {
    let (message, note) = message.of_a_bound();
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #name #params {}
    }
}

fn person_of_the_library() -> TokenStream {
    let (name, label) =
        (format_ident!("IsAPerson"), "a transition relies on this type for a person");
    let declared = declared(&name, &message::not_a_person(), label, &TokenStream::new());
    quote! {
        #declared

        #[diagnostic::do_not_recommend]
        impl IsAPerson for super::__machine::actor::Human {}
    }
}
