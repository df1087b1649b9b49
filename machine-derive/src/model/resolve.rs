use std::collections::{BTreeMap, BTreeSet};

use heck::ToPascalCase;
use quote::{ToTokens, format_ident};
use syn::{Expr, Ident, spanned::Spanned};

use super::{Brought, Graph, Guard, Move, State, Target, Trigger, Way, hidden, payload, same};
use crate::{
    errors::Errors,
    message,
    parse::{self, Declaration},
    text::{self, bare},
};

/// The methods that every machine has.
const RESERVED: [&str; 5] = ["new", "state", "context", "id", "journal"];

/// The other items in the machine's module.
const RESERVED_STATES: [&str; 2] = ["Event", "Status"];

/// True if every machine has a method of that name.
pub(crate) fn is_reserved(trigger: &Ident) -> bool {
    RESERVED.contains(&bare(trigger).as_str())
}

/// True if every machine's module has an item of that name.
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
        same: Vec::new(),
    };
    // Mistakes in a transition of a group are reported for one of its states.
    let mut told = BTreeSet::new();
    for (position, state) in declaration.states.iter().enumerate() {
        if is_reserved_state(declaration, &state.name) {
            errors.at(state.name.span(), message::reserved_state(&state.name));
        }
        for transition in &state.transitions {
            resolve_move(&mut graph, position, transition, None, errors);
        }
        for (index, (group, transition)) in declaration.options.from_groups.iter().enumerate() {
            // A state's own declaration overrides that of its group.
            let own =
                state.transitions.iter().any(|own| bare(&own.trigger) == bare(&transition.trigger));
            if state.groups.contains(group) && !told.contains(&index) && !own {
                let before = errors.len();
                resolve_move(&mut graph, position, transition, Some(group), errors);
                if errors.len() > before {
                    told.insert(index);
                }
            }
        }
    }
    if graph.stored() == "machine" {
        errors.at(declaration.name.span(), message::reserved_machine(&declaration.name));
    }
    name_the_only_source(&mut graph);
    derived_names_differ(&graph, errors);
    traits_are_free(&graph, errors);
    groups_are_known(declaration, errors);
    hidden::check(&graph, errors);
    graph
}

/// If all moves of a choice leave one state, `Self` is that state, by its name.
fn name_the_only_source(graph: &mut Graph<'_>) {
    for index in 0..graph.triggers.len() {
        let mut sources = graph.moves_of(index).map(|step| step.from);
        let (Some(from), None) = (sources.next(), sources.next()) else { continue };
        drop(sources);
        let Some(ways) = graph.triggers[index].choice.take() else { continue };
        let named = ways.into_iter().map(|way| if way == Way::Same { Way::To(from) } else { way });
        graph.triggers[index].choice = Some(each_once(named));
    }
}

fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
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

/// The names of the machine's other traits differ from those of its states and groups.
fn traits_are_free(graph: &Graph<'_>, errors: &mut Errors) {
    let groups = graph.groups();
    let may = graph.triggers.iter().enumerate().filter(|(index, _)| graph.is_restricted(*index));
    let may = may.map(|(_, trigger)| format!("May{}", bare(trigger.name).to_pascal_case()));
    let seals = groups.iter().map(|(group, _)| format!("{}Seal", bare(group)));
    let choices = graph.triggers.iter().filter(|trigger| trigger.choice.is_some());
    let choices = choices.map(|trigger| format!("After{}", bare(trigger.name).to_pascal_case()));
    let traits: BTreeSet<String> = may.chain(seals).chain(choices).collect();
    let ways = graph.triggers.iter().filter_map(|trigger| trigger.choice.as_ref()).flatten();
    let same = ways.clone().any(|way| *way == Way::Same);
    let taken = |state: &&State<'_>| {
        let name = bare(state.name());
        traits.contains(&name) || same && name == "Same"
    };
    for state in graph.states.iter().filter(taken) {
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
    let mut initials = declaration.states.iter().enumerate().filter(|(_, state)| state.initial);
    let Some((initial, chosen)) = initials.next() else {
        let first = &declaration.states[0].name;
        errors.at(declaration.name.span(), message::no_initial(first));
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
    group: Option<&'a Ident>,
    errors: &mut Errors,
) {
    let name = &transition.trigger;
    if is_reserved(name) {
        errors.at(name.span(), message::reserved(name));
    }
    let Some((brought, leads)) = payload::resolve(graph, from, transition, errors) else {
        return;
    };
    let Some(trigger) = resolve_trigger(graph, from, name, brought, errors) else {
        return;
    };
    let by = &transition.by;
    for (position, actor) in by.iter().enumerate() {
        if by[..position].contains(actor) {
            let actor_text = text::of_type(actor.to_token_stream());
            errors.on(actor, message::duplicate_actor(&actor_text));
            return;
        }
    }
    let choice = transition.leads.is_choice().then(|| {
        let way = |to: &Target<'_>| if to.stays { Way::Same } else { Way::To(to.to) };
        each_once(leads.iter().map(way))
    });
    if !same_everywhere(graph, trigger, name, transition, choice.as_deref(), errors) {
        return;
    }
    let guard = resolve_guard(graph, trigger, name, transition);
    if let Some(after) = &transition.after {
        deadline_needs_no_caller(graph, trigger, transition, after, errors);
    }
    let targets = each_once(leads.iter().map(|target| target.to));
    if graph.triggers[trigger].choice.is_none() {
        graph.triggers[trigger].choice = choice;
    }
    graph.moves.push(Move {
        from,
        trigger,
        written: transition,
        leads,
        targets,
        first_edge: graph.moves.last().map_or(0, |last| last.first_edge + last.targets.len()),
        guard,
        group,
    });
}

/// A trigger returns the same type from every state: guarded or not, a choice between the same
/// states or none. (Where a choice is first declared for one state only, `Self` is that state.)
fn same_everywhere(
    graph: &Graph<'_>,
    trigger: usize,
    name: &Ident,
    transition: &parse::Transition,
    choice: Option<&[Way]>,
    errors: &mut Errors,
) -> bool {
    let Some(first) = graph.moves_of(trigger).next() else { return true };
    let there = graph.states[first.from].name();
    if first.guard.is_some() != transition.guard.is_some() {
        errors.at(name.span(), message::guard_differs(name, there));
        return false;
    }
    let sorted = |ways: &[Way]| {
        let mut ways = ways.to_vec();
        ways.sort_unstable();
        ways
    };
    let known = graph.triggers[trigger].choice.as_deref();
    if known.map(sorted) != choice.map(sorted) {
        let names = |ways: Option<&[Way]>| {
            let ways = ways.into_iter().flatten();
            ways.map(|way| match way {
                Way::To(state) => graph.states[*state].name().to_string(),
                Way::Same => "Self".to_owned(),
            })
            .collect::<Vec<_>>()
        };
        let text = message::choice_differs(name, &names(choice), &names(known), there);
        errors.at(transition.leads.span(), text);
        return false;
    }
    true
}

/// The guard, with the question whether it refuses with the type of the other guards.
fn resolve_guard<'a>(
    graph: &mut Graph<'a>,
    trigger: usize,
    name: &Ident,
    transition: &'a parse::Transition,
) -> Option<Guard<'a>> {
    let written = transition.guard.as_ref()?;
    let Some(expected) = graph.triggers[trigger].refusal else {
        graph.triggers[trigger].refusal = Some(&written.error);
        return Some(Guard { written, same: None });
    };
    let there = graph.moves_of(trigger).next();
    let there = there.map_or(name, |step| graph.states[step.from].name());
    let question = format_ident!("Refuse{}", same::pascal(name));
    let span = written.error.span();
    let same = same::ask(
        &mut graph.same,
        question,
        (&written.error, expected),
        span,
        false,
        |found, expected| message::refusal_differs(name, found, expected, there),
    );
    Some(Guard { written, same })
}

/// A deadline fires without a caller: it takes no payload, and fires as one actor.
fn deadline_needs_no_caller(
    graph: &Graph<'_>,
    trigger: usize,
    transition: &parse::Transition,
    after: &Expr,
    errors: &mut Errors,
) {
    let name = &transition.trigger;
    if let Some(brought) = graph.triggers[trigger].brought.first() {
        errors.at(brought.name.span(), message::deadline_brings(brought.name, name));
        return;
    }
    match transition.by.len() {
        0 => errors.on(after, message::deadline_without_actor(name)),
        1 => {}
        several => errors.on(after, message::deadline_of_several_actors(name, several)),
    }
}

fn resolve_trigger<'a>(
    graph: &mut Graph<'a>,
    from: usize,
    name: &'a Ident,
    brought: Vec<Brought<'a>>,
    errors: &mut Errors,
) -> Option<usize> {
    let Some(known) = graph.trigger_index.get(&bare(name)).copied() else {
        graph.trigger_index.insert(bare(name), graph.triggers.len());
        graph.triggers.push(Trigger { name, brought, refusal: None, choice: None });
        return Some(graph.triggers.len() - 1);
    };
    let source = graph.states[from].name();
    if graph.leaving(from).any(|step| step.trigger == known) {
        errors.at(name.span(), message::duplicate_trigger(name, source));
        return None;
    }
    let first = graph.moves_of(known).next();
    let there = first.map_or(source, |first| graph.states[first.from].name());
    let canonical = graph.triggers[known].brought.clone();
    let names = |brought: &[Brought<'_>]| -> Vec<String> {
        brought.iter().map(|item| item.name.to_string()).collect()
    };
    if names(&brought) != names(&canonical) {
        let text =
            message::payload_differs(name, &signature(&brought), &signature(&canonical), there);
        errors.at(name.span(), text);
        return None;
    }
    for (here, canonical) in brought.iter().zip(canonical) {
        let question = format_ident!("{}Brings{}", same::pascal(name), same::pascal(here.name));
        same::ask(
            &mut graph.same,
            question,
            (here.ty, canonical.ty),
            name.span(),
            true,
            |found, expected| message::brought_differs(name, here.name, found, expected, there),
        );
    }
    Some(known)
}

fn signature(brought: &[Brought<'_>]) -> String {
    let items: Vec<String> = brought
        .iter()
        .map(|item| format!("{}: {}", item.name, text::of_type(item.ty.to_token_stream())))
        .collect();
    items.join(", ")
}
