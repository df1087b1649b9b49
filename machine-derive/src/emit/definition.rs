use heck::ToSnakeCase;
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Type, spanned::Spanned};

use super::names::{self, index};
use crate::{
    model::{Graph, Invocation, Move, Source, Stays},
    parse::{Approve, Audience, Field, Optional, Upgrade, serde},
    text::{self, bare},
};

pub(super) fn emit(graph: &Graph<'_>) -> TokenStream {
    let name = graph.stored();
    let docs = doc_text(&graph.declaration.docs);
    let version = Literal::u32_unsuffixed(graph.declaration.options.version.unwrap_or(1));
    let initial = index(graph.initial);
    let states = states(graph);
    let edges = graph.moves.iter().flat_map(|step| edges(graph, step));
    let actors = graph.actors();
    let actors = list(actors.iter().map(|actor| {
        quote_spanned!(actor.span()=> __row::actor(
            <#actor as __row::Actor>::KIND, <#actor as __row::Actor>::CATEGORY,
            <#actor as __row::Actor>::WAS, <#actor as __row::Actor>::__LIBRARY.is_some(),
        ))
    }));
    let groups = list(graph.groups().into_iter().map(|(group, members)| {
        let (group, members) = (bare(group), members.into_iter().map(index));
        quote!(__row::group(#group, &[#(#members),*]))
    }));
    let (states, edges) = (list(states), list(edges));
    let options = &graph.declaration.options;
    let context = options.context.as_ref().map(|ty| text::of_type(ty.to_token_stream()));
    let context = context.unwrap_or_default();
    let marks = options.context.as_ref().filter(|_| options.durable.is_some());
    let marks = marks.map_or_else(
        || quote!(&[]),
        |ty| quote_spanned!(ty.span()=> <#ty as __machine::__private::Context>::MARKS),
    );
    let upgrades = options.upgrades.iter().map(number);
    quote! {
        /// The machine as plain data.
        pub const DEFINITION: &__machine::definition::Definition = {
            use __machine::__private::rows as __row;
            &__row::definition(
                #name, #docs, #version, #context, #marks, &[#(#upgrades),*], #states, #edges,
                #initial, #actors, #groups,
            )
        };
    }
}

/// Rows that live as long as the program. They have a destructor, so they are a separate
/// constant.
fn list(rows: impl Iterator<Item = TokenStream>) -> TokenStream {
    let rows: Vec<TokenStream> = rows.collect();
    if rows.is_empty() { quote!(&[]) } else { quote!(const { &[#(#rows),*] }) }
}

fn states(graph: &Graph<'_>) -> impl Iterator<Item = TokenStream> {
    graph.states.iter().map(move |state| {
        let (name, label, written) = (&state.stored, &state.label, state.written);
        let docs = doc_text(&written.docs);
        let docs = (!docs.is_empty()).then(|| quote!(docs: #docs,));
        let stable = written.stable.then(|| quote!(stable: true,));
        let fields = rows("fields", written.fields.iter().map(|field| {
            let optional = optional(graph, field.optional, &field.ty);
            row(&bare(&field.name), &field.ty, (optional, field.audience), &field.was)
        }));
        let was = written.was.iter().map(|old| text_of(old.value().to_snake_case()));
        let was = rows("was", was);
        let upgrades = rows("upgrades", written.upgrades.iter().map(number));
        let invocation = state.invocation.as_ref().map(invocation);
        let extra = quote!(#docs #stable #fields #was #upgrades #invocation);
        let terminal = written.terminal.then(|| quote!(terminal: true,));
        match (extra.is_empty(), written.terminal) {
            (true, true) => quote!(__row::end(#name, #label)),
            (true, false) => quote!(__row::state(#name, #label)),
            _ => quote! {
                __row::state_with(#name, #label, __row::StateRow { #terminal #extra ..__row::STATE })
            },
        }
    })
}

fn invocation(invocation: &Invocation<'_>) -> TokenStream {
    let (written, tool) = (invocation.written, invocation.tool);
    let (name, text) = (bare(&written.name), text::of_type(tool.to_token_stream()));
    let yes = |key: &str, is: bool| {
        let key = format_ident!("{}", key);
        is.then(|| quote!(#key: true,))
    };
    let set = yes("set", written.is_set);
    let approve = yes("approve", matches!(written.approve, Some(Approve::Always)));
    let asks_if = written.asks_if().map(|path| some("approve_when", names::path_text(path)));
    let unattended = yes("unattended", written.unattended.is_some());
    let adopt = yes("adopt", written.adopt);
    let durations = [("expires", &written.expires), ("within", &written.within)];
    let durations = durations.into_iter().filter_map(|(key, value)| {
        Some(some(key, text::of_expression(value.as_ref()?.to_token_stream())))
    });
    let outcomes = written.outcomes.iter();
    let outcomes = outcomes.map(|outcome| some(outcome.role.key(), bare(&outcome.trigger)));
    let was = rows("was", written.was.iter().map(text_of));
    let row = quote_spanned!(tool.span()=> __machine::__private::row_of::<#tool>());
    some(
        "invocation",
        quote! {
            __row::InvocationRow {
                name: #name,
                tool: #text,
                #set #approve #asks_if #unattended #adopt #(#durations)* #(#outcomes)* #was
                ..#row
            }
        },
    )
}

/// The rows of a move: one, or one for each target of a choice.
fn edges(graph: &Graph<'_>, step: &Move<'_>) -> Vec<TokenStream> {
    let trigger = &graph.triggers[step.trigger];
    let (name, from) = (bare(trigger.name), index(step.from));
    let payload = rows(
        "payload",
        trigger.brought.iter().map(|item| {
            let optional = optional(graph, Optional::of(item.ty), item.ty);
            row(&bare(item.name), item.ty, (optional, item.audience), item.was)
        }),
    );
    let by = step.by.iter();
    let actors = rows("actors", by.map(|by| text_of(quote!(<#by as __row::Actor>::KIND))));
    let guard = step.guard.map(|guard| some("guard", names::path_text(&guard.written.path)));
    let deadline = step.written.after.as_ref().map(|after| {
        let after = text::of_expression(after.to_token_stream());
        let groups = graph.groups();
        let group = groups.iter().position(|(group, _)| Some(*group) == step.group).map(index);
        let group = group.map_or_else(
            || quote!(::core::option::Option::None),
            |group| quote!(::core::option::Option::Some(#group)),
        );
        some("deadline", quote!((#after, #group)))
    });
    let docs = doc_text(&step.written.docs);
    let docs = (!docs.is_empty()).then(|| quote!(docs: #docs,));
    let at = step.written.is_at.then(|| quote!(at: true,));
    let detach = step.written.detach.is_some().then(|| quote!(detach: true,));
    let was = rows("was", step.written.was.iter().map(text_of));
    let edges = step.edges().map(|edge| {
        let computed = rows("computed", computed_fields(graph, step, edge.to).iter().map(text_of));
        let when = edge.when.map(|when| some("when", when));
        let stays = edge.stays.map(|stays| match stays {
            Stays::Always => quote!(stays: __row::Stays::Always,),
            Stays::ByBranch => quote!(stays: __row::Stays::ByBranch,),
        });
        let to = index(edge.to);
        let extra =
            quote!(#docs #payload #actors #guard #when #deadline #at #computed #stays #detach #was);
        if extra.is_empty() {
            quote!(__row::edge(#from, #name, #to))
        } else {
            quote!(__row::edge_with(#from, #name, #to, __row::EdgeRow { #extra ..__row::EDGE }))
        }
    });
    edges.collect()
}

fn rows(key: &str, rows: impl Iterator<Item = TokenStream>) -> Option<TokenStream> {
    let mut rows = rows.peekable();
    rows.peek()?;
    let key = format_ident!("{}", key);
    Some(quote!(#key: const { &[#(#rows),*] },))
}

fn some(key: &str, value: impl ToTokens) -> TokenStream {
    let key = format_ident!("{}", key);
    quote!(#key: ::core::option::Option::Some(#value),)
}

fn text_of(text: impl ToTokens) -> TokenStream {
    quote!(__row::text(#text))
}

fn number(upgrade: &Upgrade) -> TokenStream {
    Literal::u32_unsuffixed(upgrade.from).to_token_stream()
}

/// The fields of a target that an expression sets on some way to it, and those whose stored form is
/// not that of an item in the journal.
fn computed_fields(graph: &Graph<'_>, step: &Move<'_>, to: usize) -> Vec<String> {
    let durable = graph.declaration.options.durable.is_some();
    let state = graph.states[to].written;
    let is_converted = |field: &Field| {
        let by_state = serde::converts(&state.others) || !graph.derives("Serialize");
        durable && (by_state || serde::converts(&field.attrs))
    };
    let targets = step.leads.iter().filter(|target| target.to == to);
    let computed: Vec<&Ident> = targets
        .flat_map(|target| &target.fields)
        .filter(|(_, source)| matches!(source, Source::Computed(_)))
        .map(|(field, _)| &field.name)
        .collect();
    let fields = state.fields.iter();
    let fields = fields.filter(|field| computed.contains(&&field.name) || is_converted(field));
    fields.map(|field| bare(&field.name)).collect()
}

/// Whether data without a field can be read. Only rustc knows the type that is called `Option`; a
/// plain machine has no stored data, and may be generic.
fn optional(graph: &Graph<'_>, optional: Optional, ty: &Type) -> TokenStream {
    match optional {
        Optional::IfOption if graph.declaration.options.durable.is_some() => quote!({
            use __machine::__private::rows::NotOption as _;
            __row::OfType::<#ty>::IS_OPTION
        }),
        Optional::IfOption | Optional::Always => quote!(true),
        Optional::Never => quote!(false),
    }
}

fn row(
    name: &str,
    ty: &impl ToTokens,
    (optional, audience): (TokenStream, Audience),
    was: &[LitStr],
) -> TokenStream {
    let ty = text::of_type(ty.to_token_stream());
    let was = list(was.iter().map(text_of));
    let audience = match audience {
        Audience::Internal => return quote!(__row::field(#name, #ty, #optional, #was)),
        Audience::Diagnostic => quote!(__row::Audience::Diagnostic),
        Audience::Human => quote!(__row::Audience::Human),
    };
    quote!(__row::field_for(#name, #ty, #optional, #was, #audience))
}

fn doc_text(docs: &[Attribute]) -> String {
    let lines: Vec<String> = docs
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned())
        .collect();
    lines.join("\n")
}
