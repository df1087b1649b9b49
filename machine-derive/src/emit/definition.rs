use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, spanned::Spanned};

use super::names::{self, index};
use crate::{
    model::{Brought, Graph, Move, Source},
    parse::{Audience, Field, is_option},
    text,
    text::bare,
};

pub(super) fn emit(graph: &Graph<'_>) -> TokenStream {
    let name = graph.stored();
    let docs = prose(&graph.declaration.docs);
    let version = version(graph);
    let initial = index(graph.initial);
    let states = states(graph);
    let edges = graph.moves.iter().flat_map(|step| edges(graph, step));
    let actors = graph.actors();
    let actors = list(actors.iter().map(|actor| {
        quote_spanned!(actor.span()=> __row::actor(
            <#actor as __row::Actor>::KIND,
            <#actor as __row::Actor>::CATEGORY,
            <#actor as __row::Actor>::WAS,
            <#actor as __row::Actor>::__LIBRARY.is_some(),
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
    let upgrades = options.upgrades.iter();
    let upgrades = upgrades.map(|upgrade| proc_macro2::Literal::u32_unsuffixed(upgrade.from));
    quote! {
        /// The machine as plain data.
        pub const DEFINITION: &__machine::definition::Definition = {
            use __machine::__private::rows as __row;
            &__row::definition(
                #name,
                #docs,
                #version,
                #context,
                #marks,
                &[#(#upgrades),*],
                #states,
                #edges,
                #initial,
                #actors,
                #groups,
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

/// The version of the stored data, as it is written.
pub(super) fn version(graph: &Graph<'_>) -> proc_macro2::Literal {
    let version = graph.declaration.options.version.unwrap_or(1);
    proc_macro2::Literal::u32_unsuffixed(version)
}

fn states(graph: &Graph<'_>) -> impl Iterator<Item = TokenStream> {
    graph.states.iter().map(|state| {
        let (name, label, written) = (&state.stored, &state.label, state.written);
        let docs = prose(&written.docs);
        let docs = (!docs.is_empty()).then(|| quote!(docs: #docs,));
        let stable = written.stable.then(|| quote!(stable: true,));
        let terminal = written.terminal.then(|| quote!(terminal: true,));
        let fields = written.fields.iter().map(|field| {
            row(&bare(&field.name), &field.ty, (field.optional, field.audience), &field.was)
        });
        let fields =
            (!written.fields.is_empty()).then(|| quote!(fields: const { &[#(#fields),*] },));
        let was = state.was();
        let was = (!was.is_empty()).then(|| quote!(was: const { &[#(__row::text(#was)),*] },));
        let upgrades = written
            .upgrades
            .iter()
            .map(|upgrade| proc_macro2::Literal::u32_unsuffixed(upgrade.from));
        let upgrades = (!written.upgrades.is_empty()).then(|| quote!(upgrades: &[#(#upgrades),*],));
        let extra = quote!(#docs #stable #terminal #fields #was #upgrades);
        let only_terminal = written.terminal
            && docs.is_none()
            && stable.is_none()
            && fields.is_none()
            && was.is_none()
            && upgrades.is_none();
        if only_terminal {
            quote!(__row::end(#name, #label))
        } else if extra.is_empty() {
            quote!(__row::state(#name, #label))
        } else {
            quote!(__row::state_with(#name, #label, __row::StateRow { #extra ..__row::STATE }))
        }
    })
}

/// The rows of a move: one, or one for each target of a choice.
fn edges(graph: &Graph<'_>, step: &Move<'_>) -> Vec<TokenStream> {
    let trigger = &graph.triggers[step.trigger];
    let (name, from, by) = (bare(trigger.name), index(step.from), &step.written.by);
    let payload = trigger.brought.iter().map(|Brought { name, ty, was, audience }| {
        row(&bare(name), ty, (is_option(ty), *audience), was)
    });
    let payload =
        (!trigger.brought.is_empty()).then(|| quote!(payload: const { &[#(#payload),*] },));
    let actors = (!by.is_empty())
        .then(|| quote!(actors: const { &[#(__row::text(<#by as __row::Actor>::KIND)),*] },));
    let guard = step.guard.map(|guard| {
        let path = names::path_text(&guard.written.path);
        quote!(guard: ::core::option::Option::Some(#path),)
    });
    let deadline = step.written.after.as_ref().map(|after| {
        let after = text::of_expression(after.to_token_stream());
        let groups = graph.groups();
        let group = groups.iter().position(|(group, _)| Some(*group) == step.group).map(index);
        let group = group.map_or_else(
            || quote!(::core::option::Option::None),
            |group| quote!(::core::option::Option::Some(#group)),
        );
        quote!(deadline: ::core::option::Option::Some((#after, #group)),)
    });
    let was = &step.written.was;
    let was = (!was.is_empty()).then(|| quote!(was: const { &[#(__row::text(#was)),*] },));
    let conditions = step.conditions();
    step.targets
        .iter()
        .enumerate()
        .map(|(position, to)| {
            let computed = computed(graph, step, *to);
            let computed = (!computed.is_empty())
                .then(|| quote!(computed: const { &[#(__row::text(#computed)),*] },));
            let to = index(*to);
            let when = conditions
                .get(position)
                .map(|when| quote!(when: ::core::option::Option::Some(#when),));
            let extra = quote!(#payload #actors #guard #when #deadline #computed #was);
            if extra.is_empty() {
                quote!(__row::edge(#from, #name, #to))
            } else {
                quote!(__row::edge_with(#from, #name, #to, __row::EdgeRow { #extra ..__row::EDGE }))
            }
        })
        .collect()
}

/// The fields of a target that an expression sets on some way to it, and those whose stored form is not
/// that of an item in the journal.
fn computed(graph: &Graph<'_>, step: &Move<'_>, to: usize) -> Vec<String> {
    let durable = graph.declaration.options.durable.is_some();
    let state = graph.states[to].written;
    let is_converted = |field: &Field| {
        let by_state = state.converts() || !graph.derives("Serialize");
        durable && (by_state || field.converts())
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

fn row(
    name: &str,
    ty: &impl ToTokens,
    (optional, audience): (bool, Audience),
    was: &[LitStr],
) -> TokenStream {
    let ty = text::of_type(ty.to_token_stream());
    let was = list(was.iter().map(|was| quote!(__row::text(#was))));
    let audience = match audience {
        Audience::Internal => return quote!(__row::field(#name, #ty, #optional, #was)),
        Audience::Diagnostic => quote!(__row::Audience::Diagnostic),
        Audience::Human => quote!(__row::Audience::Human),
    };
    quote!(__row::field_for(#name, #ty, #optional, #was, #audience))
}

/// The doc comment as text.
pub(super) fn prose(docs: &[Attribute]) -> String {
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
