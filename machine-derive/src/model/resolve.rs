use std::collections::{BTreeMap, BTreeSet};

use heck::ToPascalCase;
use quote::ToTokens;
use syn::{Field, Ident, Path, spanned::Spanned};

use super::{Brought, Graph, Move, Source, State, Trigger, graph::bare};
use crate::{
    errors::Errors,
    expand::as_written,
    message,
    parse::{self, Declaration, Guard, Item},
};

/// The methods that every machine has.
const RESERVED: [&str; 5] = ["new", "state", "context", "id", "journal"];

/// What stands beside the states in the machine's module.
const RESERVED_STATES: [&str; 2] = ["Event", "Status"];

/// Whether every machine has a method of that name.
pub(crate) fn is_reserved(trigger: &Ident) -> bool {
    RESERVED.contains(&bare(trigger).as_str())
}

/// Whether every machine's module has an item of that name.
pub(crate) fn is_reserved_state(declaration: &Declaration, state: &Ident) -> bool {
    let name = bare(state);
    let machine = bare(&declaration.name);
    RESERVED_STATES.contains(&name.as_str()) || name == machine || name == format!("Any{machine}")
}

/// Resolves what can be resolved and reports the rest. A move with a mistake is left out.
pub(crate) fn resolve<'a>(declaration: &'a Declaration, errors: &mut Errors) -> Graph<'a> {
    let states: Vec<State<'a>> = declaration.states.iter().map(State::new).collect();
    let mut state_index = BTreeMap::new();
    for (position, state) in declaration.states.iter().enumerate() {
        if state_index.insert(state.name.to_string(), position).is_some() {
            errors.at(state.name.span(), message::duplicate_state(&state.name));
        }
    }
    let mut graph = Graph {
        declaration,
        initial: initial(declaration, errors),
        states,
        triggers: Vec::new(),
        state_index,
        trigger_index: BTreeMap::new(),
        moves: Vec::new(),
    };
    // What is wrong with a transition of a group is told of one of its states.
    let mut told = BTreeSet::new();
    for (position, state) in declaration.states.iter().enumerate() {
        if is_reserved_state(declaration, &state.name) {
            errors.at(state.name.span(), message::reserved_state(&state.name));
        }
        for transition in &state.transitions {
            resolve_move(&mut graph, position, transition, errors);
        }
        for (index, (group, transition)) in declaration.options.from_groups.iter().enumerate() {
            if state.groups.contains(group) && !told.contains(&index) {
                let before = errors.len();
                resolve_move(&mut graph, position, transition, errors);
                if errors.len() > before {
                    told.insert(index);
                }
            }
        }
    }
    if graph.stored() == "machine" {
        errors.at(declaration.name.span(), message::reserved_machine(&declaration.name));
    }
    derived_names_differ(&graph, errors);
    traits_are_free(&graph, errors);
    groups_are_known(declaration, errors);
    graph
}

/// States are stored, and events are called, by names that are derived from those written.
fn derived_names_differ(graph: &Graph<'_>, errors: &mut Errors) {
    let mut stored: BTreeMap<&str, &Ident> = BTreeMap::new();
    for state in &graph.states {
        let one = *stored.entry(&state.stored).or_insert(state.name());
        // The same name twice was reported as that.
        if one != state.name() {
            let text = message::same_derived_name(one, state.name(), &state.stored);
            errors.at(state.name().span(), text);
        }
    }
    let mut variants: BTreeMap<String, &Ident> = BTreeMap::new();
    for Trigger { name, .. } in &graph.triggers {
        let variant = bare(name).to_pascal_case();
        if let Some(one) = variants.insert(variant.clone(), name) {
            errors.at(name.span(), message::same_derived_name(one, name, &variant));
        }
    }
}

/// The traits that the machine has beside its states and groups have names of their own.
fn traits_are_free(graph: &Graph<'_>, errors: &mut Errors) {
    let groups = graph.groups();
    let may = graph.triggers.iter().enumerate().filter(|(index, _)| graph.is_restricted(*index));
    let may = may.map(|(_, trigger)| format!("May{}", bare(trigger.name).to_pascal_case()));
    let seals = groups.iter().map(|(group, _)| format!("{}Seal", bare(group)));
    let traits: BTreeSet<String> = may.chain(seals).collect();
    for state in graph.states.iter().filter(|state| traits.contains(&bare(state.name()))) {
        errors.at(state.name().span(), message::reserved_state(state.name()));
    }
    for (group, _) in groups.iter().filter(|(group, _)| traits.contains(&bare(group))) {
        errors.at(group.span(), message::reserved_group(group));
    }
}

fn groups_are_known(declaration: &Declaration, errors: &mut Errors) {
    let is_state = |name: &Ident| declaration.states.iter().any(|state| state.name == *name);
    let groups: Vec<&Ident> = declaration.states.iter().flat_map(|state| &state.groups).collect();
    for (position, group) in groups.iter().enumerate() {
        if groups[..position].contains(group) {
            continue;
        }
        if is_state(group) {
            errors.at(group.span(), message::group_is_a_state(group));
        } else if is_reserved_state(declaration, group) {
            errors.at(group.span(), message::reserved_group(group));
        }
    }
    for (group, _) in &declaration.options.from_groups {
        if !groups.contains(&group) {
            errors.at(group.span(), message::unknown_group(group, &groups, is_state(group)));
        }
    }
}

fn initial(declaration: &Declaration, errors: &mut Errors) -> usize {
    let Some(first) = declaration.states.first() else {
        errors.at(declaration.name.span(), message::no_states());
        return 0;
    };
    let mut initials = declaration.states.iter().enumerate().filter(|(_, state)| state.initial);
    let Some((initial, chosen)) = initials.next() else {
        errors.at(declaration.name.span(), message::no_initial(&first.name));
        return 0;
    };
    for (_, second) in initials {
        errors.at(second.name.span(), message::second_initial(&chosen.name));
    }
    initial
}

fn resolve_move<'a>(
    graph: &mut Graph<'a>,
    from: usize,
    transition: &'a parse::Transition,
    errors: &mut Errors,
) {
    let name = &transition.trigger;
    if is_reserved(name) {
        errors.at(name.span(), message::reserved(name));
    }
    let all = &graph.declaration.states;
    let source = &all[from];
    let Some(to) = graph.state(&transition.target) else {
        let names: Vec<&Ident> = all.iter().map(|state| &state.name).collect();
        let target = &transition.target;
        errors.at(target.span(), message::unknown_state(target, &names));
        return;
    };
    let Some((brought, fields)) = resolve_payload(source, transition, &all[to], errors) else {
        return;
    };
    let Some(trigger) = resolve_trigger(graph, from, name, brought, errors) else {
        return;
    };
    let by: &'a [Path] = &transition.by;
    for (position, actor) in by.iter().enumerate() {
        if by[..position].contains(actor) {
            errors.on(actor, message::duplicate_actor(&text(actor)));
            return;
        }
    }
    let guard = transition.guard.as_ref();
    let error = |guard: Option<&Guard>| guard.map(|guard| text(&guard.error));
    if let Some(other) = graph.moves.iter().find(|step| step.trigger == trigger)
        && error(other.guard) != error(guard)
    {
        let there = graph.states[other.from].name();
        errors.at(name.span(), message::guard_differs(name, there));
        return;
    }
    graph.moves.push(Move { from, trigger, to, fields, by, guard, span: name.span() });
}

/// The fields of a target, in its order, each with where it comes from.
type Origins<'a> = Vec<(&'a Field, Source<'a>)>;

/// Where each field of the target comes from, and what the caller brings.
fn resolve_payload<'a>(
    source: &'a parse::State,
    transition: &'a parse::Transition,
    target: &'a parse::State,
    errors: &mut Errors,
) -> Option<(Vec<Brought<'a>>, Origins<'a>)> {
    if target.unnamed {
        // Reported; whatever the payload says of its fields, it has none yet.
        return None;
    }
    let field_of = |state: &'a parse::State, name: &Ident| {
        state.fields.iter().find(|field| field.ident.as_ref() == Some(name))
    };
    let mut brought = Vec::new();
    let mut whole = true;
    let mut misnamed = false;
    let mut mistake = |span, message| {
        errors.at(span, message);
        whole = false;
    };

    for (position, item) in transition.payload.iter().enumerate() {
        let name = item.name();
        if transition.payload[..position].iter().any(|other| other.name() == name) {
            mistake(name.span(), message::duplicate_payload(name));
        }
        match (item, field_of(target, name)) {
            (Item::Field(_) | Item::Computed(..), None) => {
                let names: Vec<&Ident> =
                    target.fields.iter().filter_map(|field| field.ident.as_ref()).collect();
                mistake(name.span(), message::no_such_field(name, &target.name, &names));
                misnamed = true;
            }
            (Item::Field(_), Some(field)) => brought.push(Brought { name, ty: &field.ty }),
            (Item::Noted(..), Some(_)) => {
                mistake(name.span(), message::noted_is_a_field(name, &target.name));
            }
            (Item::Noted(_, ty), None) => brought.push(Brought { name, ty }),
            (Item::Computed(..), Some(_)) => {}
        }
    }

    if misnamed {
        // A field that nothing gives may be the one that was meant.
        return None;
    }
    let mut fields = Vec::new();
    for field in &target.fields {
        // Named fields only get this far: tuple states were reported and have no fields.
        let Some(name) = &field.ident else { continue };
        let item = transition.payload.iter().find(|item| item.name() == name);
        let origin = match (item, field_of(source, name)) {
            (Some(Item::Field(_)), _) => Source::Brought,
            (Some(Item::Computed(_, expr)), _) => Source::Computed(expr),
            (Some(Item::Noted(..)) | None, None) => {
                let trigger = &transition.trigger;
                mistake(trigger.span(), message::uncovered_field(name, &target.name, &source.name));
                continue;
            }
            (Some(Item::Noted(..)) | None, Some(carried)) => {
                let (here, there) = (text(&carried.ty), text(&field.ty));
                if here != there {
                    mistake(
                        transition.trigger.span(),
                        message::carried_type_differs(
                            name,
                            (&source.name, &here),
                            (&target.name, &there),
                        ),
                    );
                }
                Source::Carried
            }
        };
        fields.push((field, origin));
    }
    whole.then_some((brought, fields))
}

fn resolve_trigger<'a>(
    graph: &mut Graph<'a>,
    from: usize,
    name: &'a Ident,
    brought: Vec<Brought<'a>>,
    errors: &mut Errors,
) -> Option<usize> {
    let Some(known) = graph.trigger_index.get(&name.to_string()).copied() else {
        graph.trigger_index.insert(name.to_string(), graph.triggers.len());
        graph.triggers.push(Trigger { name, brought });
        return Some(graph.triggers.len() - 1);
    };
    let source = graph.states[from].name();
    if graph.leaving(from).any(|step| step.trigger == known) {
        errors.at(name.span(), message::duplicate_trigger(name, source));
        return None;
    }
    let (here, there) = (signature(&brought), signature(&graph.triggers[known].brought));
    if here != there {
        // The trigger is known, so some earlier move declared it.
        let first = graph.moves.iter().find(|step| step.trigger == known)?;
        let there_from = graph.states[first.from].name();
        errors.at(name.span(), message::payload_differs(name, &here, &there, there_from));
        return None;
    }
    Some(known)
}

fn signature(brought: &[Brought<'_>]) -> String {
    let items: Vec<String> =
        brought.iter().map(|item| format!("{}: {}", item.name, text(item.ty))).collect();
    items.join(", ")
}

/// The tokens as text; equal text is equal type, as far as a macro can know.
fn text(tokens: &(impl ToTokens + Spanned)) -> String {
    as_written(tokens.to_token_stream()).to_string()
}
