//! The diagram in a machine's documentation. Only rustdoc expands it, so that other builds do not
//! pay for it: `#[cfg_attr(doc, doc = svg!(..))]`.

use machine_diagram::{Arrow, Diagram, Node};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    LitBool, LitInt, LitStr, bracketed,
    parse::{ParseStream, Parser},
};

use crate::{
    model::{Graph, Invocation},
    text::bare,
};

pub(crate) fn attribute(graph: &Graph<'_>) -> TokenStream {
    let initial = graph.initial;
    let states = graph.states.iter().map(|state| {
        let (label, terminal) = (&state.label, state.written.terminal);
        let note = state.invocation.as_ref().map(Invocation::label).unwrap_or_default();
        quote!(#label #note #terminal)
    });
    let arrows = graph.moves.iter().flat_map(|step| {
        let trigger = bare(graph.triggers[step.trigger].name);
        step.edges().map(move |edge| {
            let when = edge.when.map(|when| format!(" [{when}]")).unwrap_or_default();
            let stays = edge.stays.map(|stays| format!(" / {}", stays.words()));
            let stays = stays.unwrap_or_default();
            let detach = if step.written.detach.is_some() { " / detach" } else { "" };
            let (from, to, label) = (step.from, edge.to, format!("{trigger}{when}{stays}{detach}"));
            quote!(#from #to #label)
        })
    });
    quote! {
        #[cfg_attr(doc, doc = __machine::__private::svg!(
            #initial [#(#states)*] [#(#arrows)*]
        ))]
    }
}

/// `svg!(0 ["OPEN" "" false "SHUT" "" true] [0 1 "close"])`, as [`attribute`] writes it.
pub(crate) fn svg(input: TokenStream) -> syn::Result<TokenStream> {
    let text = format!("\n\n<div>{}</div>\n\n", diagram.parse2(input)?.svg());
    Ok(quote!(#text))
}

fn diagram(input: ParseStream<'_>) -> syn::Result<Diagram> {
    let number = |input: ParseStream<'_>| input.parse::<LitInt>()?.base10_parse::<usize>();
    let initial = number(input)?;
    let mut diagram = Diagram::default();
    let states;
    bracketed!(states in input);
    while !states.is_empty() {
        let label = states.parse::<LitStr>()?.value();
        let note = Some(states.parse::<LitStr>()?.value()).filter(|note| !note.is_empty());
        let terminal = states.parse::<LitBool>()?.value;
        let initial = diagram.nodes.len() == initial;
        diagram.nodes.push(Node { label, note, initial, terminal });
    }
    let moves;
    bracketed!(moves in input);
    while !moves.is_empty() {
        let (from, to) = (number(&moves)?, number(&moves)?);
        diagram.arrows.push(Arrow { from, to, label: moves.parse::<LitStr>()?.value() });
    }
    Ok(diagram)
}
