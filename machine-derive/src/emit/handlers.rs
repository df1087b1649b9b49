use proc_macro2::TokenStream;
use quote::quote;

use super::names::{self, Names};
use crate::model::Graph;

/// The trait of the machine's handlers, with a method for each state, and the handler that a worker
/// takes. A macro of the library writes them, so that a program without a worker has none.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let are_named = !names.graph.has_the_name_of_a_handler()
        && !names.graph.states.iter().any(|state| names.names_another_item(state));
    if !names.durable || !names.params.is_empty() || !are_named {
        return TokenStream::new();
    }
    let Names { typed, any, module, .. } = names;
    let all = names.graph.states.iter().enumerate();
    let (ends, states): (Vec<_>, Vec<_>) = all.partition(|(_, state)| state.written.terminal);
    let is_required = |index: usize| !names.stub && !waits(names.graph, index);
    let self_driven = (!states.iter().any(|(index, _)| is_required(*index)))
        .then(|| quote!(impl __machine::worker::SelfDriven for #any {}));
    let states = states.iter().map(|(index, state)| {
        let (name, docs) = (state.name(), &state.written.docs);
        let mut method = names::keyword_safe(&state.stored, name);
        // In an editor the method leads to its state.
        method.set_span(name.span());
        let about = format!("A machine in {}.", state.label);
        let break_after_docs = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
        let outcome = state.invocation.as_ref().filter(|it| it.written.outcomes.is_empty());
        let outcome = outcome.map(|invocation| {
            let tool = invocation.tool;
            let outcome = quote!(__machine::contract::Outcome<#tool>);
            if invocation.written.is_set {
                quote!(outcomes: ::std::vec::Vec<#outcome> = outcomes, #tool)
            } else {
                quote!(outcome: #outcome = outcome, #tool)
            }
        });
        let body = if is_required(*index) {
            quote!(;)
        } else {
            quote!({ async { ::core::result::Result::Ok(__machine::worker::Next::Wait) } })
        };
        quote! {
            #(#docs)*
            #break_after_docs
            #[doc = #about]
            #method #name (#outcome) #body
        }
    });
    let ends = ends.iter().map(|(_, state)| state.name());
    let about = format!("Handles the states of [`{typed}`]: pass [`Driver`] to a worker.");
    let message = format!("`{{Self}}` does not handle the states of `{typed}`");
    let note = format!("implement `{module}::Handle` for it");
    quote! {
        // Rustc names the macro in errors as it is called.
        use __machine::__private::handlers as machine_handlers;
        machine_handlers! {
            #[doc = #about]
            #[diagnostic::on_unimplemented(message = #message, label = "not a handler", note = #note)]
            #typed #any { #(#states)* } { #(#ends)* }
            #self_driven
        }
    }
}

/// True if the state asks for nothing: it may last, others make its transitions, or its outcomes
/// have their triggers.
fn waits(graph: &Graph<'_>, state: usize) -> bool {
    match &graph.states[state].written.invoke {
        Some(invoke) => !invoke.outcomes.is_empty(),
        None => graph.states[state].written.stable || !graph.asks_for_code(state),
    }
}
