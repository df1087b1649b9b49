//! A name in an expression means one thing: a field of the source, an item of the payload, or one
//! of the names that every expression has.

use quote::ToTokens;
use syn::{Expr, Ident};

use super::{Brought, Graph, scope};
use crate::{
    errors::Errors,
    message,
    parse::{self, Invoke, Transition},
};

/// Reports every name in a transition that could mean two things. `noted` are items that were
/// reported already.
pub(super) fn check(
    graph: &Graph<'_>,
    from: usize,
    transition: &Transition,
    brought: &[Brought<'_>],
    noted: &[Ident],
    errors: &mut Errors,
) {
    let source = &graph.declaration.states[from];
    let mut expressions = transition.expressions();
    source_is_used_in_one_way(source, &expressions, errors);
    expressions.extend(&transition.after);
    let names = Names { graph, source, brought, noted };
    for expression in expressions {
        names.are_clear(expression, errors);
    }
}

/// Reports every name in an invocation that could mean two things.
pub(super) fn check_invocation(graph: &Graph<'_>, state: &parse::State, errors: &mut Errors) {
    let names = Names { graph, source: state, brought: &[], noted: &[] };
    for expression in state.invoke.iter().flat_map(Invoke::expressions) {
        names.are_clear(expression, errors);
    }
}

struct Names<'n> {
    graph: &'n Graph<'n>,
    source: &'n parse::State,
    brought: &'n [Brought<'n>],
    /// The items that were reported already.
    noted: &'n [Ident],
}

impl Names<'_> {
    fn are_clear(&self, expression: &Expr, errors: &mut Errors) {
        let Self { graph, source, brought, noted } = *self;
        let mut reported: Vec<Ident> = Vec::new();
        let by_field_only = scope::uses_of_source(expression.to_token_stream()).1.is_none();
        for name in scope::names(expression.to_token_stream()) {
            // `source.plan` is clear, whatever else is called `source`.
            if name == "source" && by_field_only {
                continue;
            }
            let of_source = source.field(&name).is_some();
            let of_payload = brought.iter().any(|brought| *brought.name == name);
            let meanings = [of_source, of_payload, graph.is_ours(&name)];
            if meanings.iter().filter(|meaning| **meaning).count() < 2
                || noted.contains(&name)
                || reported.contains(&name)
            {
                continue;
            }
            let text = if of_source && of_payload {
                message::ambiguous_name(&name, &source.name)
            } else if of_source {
                message::field_of_ours(&name, &source.name)
            } else {
                message::item_of_ours(&name)
            };
            errors.on(&name, text);
            reported.push(name);
        }
    }
}

/// A field that is named by itself is moved out of the source, so `source` no longer has it.
fn source_is_used_in_one_way(source: &parse::State, expressions: &[&Expr], errors: &mut Errors) {
    let uses = expressions.iter().map(|one| scope::uses_of_source(one.to_token_stream()));
    let (mut by_field, mut whole) = (Vec::new(), None);
    for (fields, other) in uses {
        by_field.extend(fields);
        whole = whole.or(other);
    }
    let mut alone = expressions.iter().flat_map(|one| scope::names(one.to_token_stream()));
    let twice = alone.find(|name| {
        let is_field = *name != "source" && source.field(name).is_some();
        is_field && (whole.is_some() || by_field.contains(name))
    });
    if let Some(name) = twice {
        let text = match whole {
            Some(_) => message::taken_from_a_whole(&name),
            None => message::taken_and_in_source(&name),
        };
        errors.on(&name, text);
    }
}
