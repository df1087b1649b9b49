//! The payload of a transition.

use syn::Ident;

use super::{Brought, Graph, Target, branches::Branches, clarity};
use crate::{
    errors::Errors,
    message,
    parse::{self, Audience, ItemKind, Transition},
};

/// Resolves the payload and the targets of a transition out of one state; `None` when something in
/// it was reported.
pub(super) fn resolve<'a>(
    graph: &mut Graph<'a>,
    from: usize,
    transition: &'a Transition,
    errors: &mut Errors,
) -> Option<(Vec<Brought<'a>>, Vec<Target<'a>>)> {
    let before = errors.len();
    let mut noted = Vec::new();
    let brought = brought(graph, from, transition, &mut noted, errors);
    // A field without a source may be the one that was meant by a wrong name.
    let misnamed = errors.len() > before;
    let mut branches = Branches {
        graph,
        from,
        transition,
        brought: &brought,
        bound: Vec::new(),
        path: Vec::new(),
        errors,
        misnamed,
        targets: Vec::new(),
        is_whole: true,
    };
    branches.resolve(&transition.leads);
    let (leads, is_whole) = (branches.targets, branches.is_whole);
    clarity::check(graph, from, transition, &brought, &noted, errors);
    (is_whole && errors.len() == before).then_some((brought, leads))
}

fn brought<'a>(
    graph: &Graph<'a>,
    from: usize,
    transition: &'a Transition,
    noted: &mut Vec<Ident>,
    errors: &mut Errors,
) -> Vec<Brought<'a>> {
    let targets: Vec<(&parse::Target, &'a parse::State)> = transition
        .leads
        .targets()
        .into_iter()
        .filter_map(|target| Some((target, graph.states[graph.target(from, target)?].written)))
        .collect();
    let mut brought = Vec::new();
    for (position, item) in transition.payload.iter().enumerate() {
        let name = &item.name;
        if transition.payload[..position].iter().any(|other| other.name == *name) {
            errors.on(name, message::duplicate_payload(name));
        }
        if *name == "trigger"
            && !matches!(item.kind, ItemKind::Computed(_))
            && (graph.derives("Serialize") || graph.derives("Deserialize"))
        {
            errors.on(name, message::reserved_item(name));
        }
        let mut fields = targets
            .iter()
            .filter_map(|(target, state)| Some((*target, *state, state.field(name)?)));
        let field = fields.next();
        let gives = |target: &parse::Target| target.items.iter().any(|item| item.field == *name);
        let never_used = matches!(item.kind, ItemKind::Computed(_))
            && field.is_some_and(|(target, ..)| gives(target))
            && fields.clone().all(|(target, ..)| gives(target));
        if never_used {
            errors.on(name, message::duplicate_payload(name));
        }
        match (&item.kind, field) {
            (ItemKind::Field | ItemKind::Computed(_), None) => {
                // A target that is not a state was reported, or will be.
                let named = || targets.iter().filter(|(_, state)| !state.unnamed);
                let fields = named().flat_map(|(_, state)| &state.fields);
                let fields: Vec<&Ident> = fields.map(|field| &field.name).collect();
                match named().next() {
                    Some(_) if transition.leads.is_choice() => {
                        let trigger = &transition.trigger;
                        errors.on(name, message::no_such_item(name, trigger, &fields));
                    }
                    Some((_, target)) => {
                        errors.on(name, message::no_such_field(name, &target.name, &fields));
                    }
                    None => {}
                }
            }
            (ItemKind::Field, Some((_, _, field))) => {
                let was = if item.was.is_empty() { &field.was } else { &item.was };
                // Of a choice that sets several fields, the strictest decides.
                let others = fields.map(|(_, _, field)| field.audience);
                let audience = others.fold(field.audience, Audience::min);
                let audience = item.audience.unwrap_or(audience);
                brought.push(Brought { name, ty: &field.ty, was, audience });
            }
            (ItemKind::Noted(ty), field) => {
                let mut unset = field.into_iter().chain(fields);
                if let Some((_, state, _)) = unset.find(|(target, ..)| !gives(target)) {
                    errors.on(name, message::noted_is_a_field(name, &state.name));
                    noted.push(name.clone());
                }
                let audience = item.audience.unwrap_or_default();
                brought.push(Brought { name, ty, was: &item.was, audience });
            }
            (ItemKind::Computed(_), Some(_)) => {}
        }
    }
    brought
}
