//! The expansion. Nothing in here can fail: the graph was checked.
//!
//! All of it goes into one module, named after the machine, so that the fields of the typed
//! machine are private even to the module that declares it. Every path is written in full.

/// `quote!` for code with variables: its own cannot clash with those that carry the user's names.
macro_rules! hygienic {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

/// [`hygienic`] with a position, at which rustc reports errors.
macro_rules! hygienic_at {
    ($at:expr => $($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site().located_at($at)=> $($tokens)*)
    };
}

mod actors;
mod bindings;
mod body;
mod choice;
mod deadlines;
mod definition;
mod durable;
mod erased;
mod event;
mod fields;
mod groups;
mod handlers;
mod illegal;
mod imports;
mod invocations;
mod names;
mod params;
mod proofs;
mod same;
mod serde;
mod start;
mod states;
mod status;
mod storable;
mod stubs;
mod transitions;
mod typed;

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::Graph;
use names::Names;

pub(crate) use params::markers;
pub(crate) use stubs::{stubs, stubs_beside_the_enum};

pub(crate) fn machine(graph: &Graph<'_>) -> TokenStream {
    let names = Names::of(graph);
    let parts = [
        definition::emit(graph),
        typed::emit(&names),
        fields::emit(&names),
        states::emit(&names),
        actors::emit(&names),
        same::emit(&names),
        choice::emit(&names),
        transitions::emit(&names),
        deadlines::emit(&names),
        invocations::emit(&names),
        groups::emit(&names),
        illegal::emit(&names),
        status::emit(&names),
        event::emit(&names),
        erased::emit(&names),
        durable::emit(&names),
        handlers::emit(&names),
        links(graph),
    ];
    names.module(&quote!(#(#parts)*), &[&names.any, &names.typed])
}

/// The targets as the user wrote them, so that an editor leads from a target to its state.
fn links(graph: &Graph<'_>) -> TokenStream {
    let targets = graph.declaration.transitions().flat_map(|transition| transition.leads.targets());
    let targets = targets.map(|target| &target.state).filter(|state| *state != "Self");
    quote!(__machine::__private::links! { #(#targets)* })
}
