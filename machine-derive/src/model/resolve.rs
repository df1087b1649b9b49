use std::collections::{BTreeMap, BTreeSet};

use heck::ToPascalCase;
use quote::{ToTokens, format_ident};
use syn::{Expr, Ident, spanned::Spanned};

use super::{
    Brought, Graph, Guard, Move, State, Target, Trigger, Way, graph::each_once, hidden, payload,
    same,
};
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
    let mut reported = BTreeSet::new();
    for (from, state) in declaration.states.iter().enumerate() {
        if is_reserved_state(declaration, &state.name) {
            errors.at(state.name.span(), message::reserved_state(&state.name));
        }
        for transition in &state.transitions {
            Resolver { graph: &mut graph, errors, from, transition }.resolve(None);
        }
        for (index, (group, transition)) in declaration.options.from_groups.iter().enumerate() {
            // A state's own declaration overrides that of its group.
            let own =
                state.transitions.iter().any(|own| bare(&own.trigger) == bare(&transition.trigger));
            if state.groups.contains(group) && !reported.contains(&index) && !own {
                let before = errors.len();
                Resolver { graph: &mut graph, errors, from, transition }.resolve(Some(group));
                if errors.len() > before {
                    reported.insert(index);
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

/// States are stored, and events are called, by names that are derived from those written.
fn derived_names_differ(graph: &Graph<'_>, errors: &mut Errors) {
    let mut stored: BTreeMap<&str, &Ident> = BTreeMap::new();
    for state in &graph.states {
        let one = *stored.entry(&state.stored).or_insert(state.name());
        // A repeated name was reported as such.
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

/// A move while it is resolved.
struct Resolver<'g, 'a> {
    graph: &'g mut Graph<'a>,
    errors: &'g mut Errors,
    from: usize,
    transition: &'a parse::Transition,
}

impl<'a> Resolver<'_, 'a> {
    /// Adds the move, unless it has a mistake.
    fn resolve(&mut self, group: Option<&'a Ident>) -> Option<()> {
        let (from, transition) = (self.from, self.transition);
        let name = &transition.trigger;
        if is_reserved(name) {
            self.errors.at(name.span(), message::reserved(name));
        }
        let (brought, leads) = payload::resolve(self.graph, from, transition, self.errors)?;
        let trigger = self.trigger(brought)?;
        let by = &transition.by;
        let mut actors = by.iter().enumerate();
        if let Some((_, actor)) = actors.find(|(place, actor)| by[..*place].contains(actor)) {
            let text = text::of_type(actor.to_token_stream());
            self.errors.on(actor, message::duplicate_actor(&text));
            return None;
        }
        let choice = transition.leads.is_choice().then(|| {
            let way = |to: &Target<'_>| if to.stays { Way::Same } else { Way::To(to.to) };
            each_once(leads.iter().map(way))
        });
        self.same_everywhere(trigger, choice.as_deref())?;
        let guard = self.guard(trigger);
        if let Some(after) = &transition.after {
            self.deadline_needs_no_caller(trigger, after);
        }
        let targets = each_once(leads.iter().map(|target| target.to));
        let known = &mut self.graph.triggers[trigger].choice;
        *known = known.take().or(choice);
        let last = self.graph.moves.last();
        let first_edge = last.map_or(0, |last| last.first_edge + last.targets.len());
        let written = transition;
        let step = Move { from, trigger, written, leads, targets, first_edge, guard, group };
        self.graph.moves.push(step);
        Some(())
    }

    /// The state of the first move of this trigger; this one if there is none.
    fn there(&self, trigger: usize) -> &'a Ident {
        let first = self.graph.moves_of(trigger).next();
        self.graph.states[first.map_or(self.from, |first| first.from)].name()
    }

    /// A trigger returns the same type from every state: guarded or not, a choice between the same
    /// states or none. (If a choice is first declared for one state only, `Self` is that state.)
    fn same_everywhere(&mut self, trigger: usize, choice: Option<&[Way]>) -> Option<()> {
        let (transition, there) = (self.transition, self.there(trigger));
        let name = &transition.trigger;
        let Some(first) = self.graph.moves_of(trigger).next() else { return Some(()) };
        if first.guard.is_some() != transition.guard.is_some() {
            self.errors.at(name.span(), message::guard_differs(name, there));
            return None;
        }
        let sorted = |ways: &[Way]| BTreeSet::from_iter(ways.to_vec());
        let known = self.graph.triggers[trigger].choice.as_deref();
        if known.map(sorted) == choice.map(sorted) {
            return Some(());
        }
        let names = |ways: Option<&[Way]>| -> Vec<String> {
            let ways = ways.into_iter().flatten();
            ways.map(|way| match way {
                Way::To(state) => self.graph.states[*state].name().to_string(),
                Way::Same => "Self".to_owned(),
            })
            .collect()
        };
        let text = message::choice_differs(name, &names(choice), &names(known), there);
        self.errors.at(transition.leads.span(), text);
        None
    }

    /// The guard, whose error type must be that of the other guards.
    fn guard(&mut self, trigger: usize) -> Option<Guard<'a>> {
        let written = self.transition.guard.as_ref()?;
        let (name, there) = (&self.transition.trigger, self.there(trigger));
        let expected = *self.graph.triggers[trigger].refusal.get_or_insert(&written.error);
        let question = format_ident!("Refuse{}", same::pascal(name));
        let types = (&written.error, expected);
        let span = written.error.span();
        let same =
            same::require(&mut self.graph.same, question, types, span, false, |found, expected| {
                message::refusal_differs(name, found, expected, there)
            });
        Some(Guard { written, same })
    }

    /// A deadline fires without a caller: it takes no payload, and fires as one actor.
    fn deadline_needs_no_caller(&mut self, trigger: usize, after: &Expr) {
        let name = &self.transition.trigger;
        if let Some(brought) = self.graph.triggers[trigger].brought.first() {
            self.errors.at(brought.name.span(), message::deadline_brings(brought.name, name));
            return;
        }
        match self.transition.by.len() {
            0 => self.errors.on(after, message::deadline_without_actor(name)),
            1 => {}
            several => self.errors.on(after, message::deadline_of_several_actors(name, several)),
        }
    }

    /// The index of the trigger, whose payload must be the same from every state.
    fn trigger(&mut self, brought: Vec<Brought<'a>>) -> Option<usize> {
        let (graph, name) = (&mut *self.graph, &self.transition.trigger);
        let Some(known) = graph.trigger_index.get(&bare(name)).copied() else {
            graph.trigger_index.insert(bare(name), graph.triggers.len());
            graph.triggers.push(Trigger { name, brought, refusal: None, choice: None });
            return Some(graph.triggers.len() - 1);
        };
        if graph.leaving(self.from).any(|step| step.trigger == known) {
            let source = graph.states[self.from].name();
            self.errors.at(name.span(), message::duplicate_trigger(name, source));
            return None;
        }
        let there = self.there(known);
        let graph = &mut *self.graph;
        let canonical = &graph.triggers[known].brought;
        if !brought.iter().map(|item| item.name).eq(canonical.iter().map(|item| item.name)) {
            let (here, canonical) = (signature(&brought), signature(canonical));
            let text = message::payload_differs(name, &here, &canonical, there);
            self.errors.at(name.span(), text);
            return None;
        }
        for (here, canonical) in brought.iter().zip(canonical) {
            let question = format_ident!("{}Brings{}", same::pascal(name), same::pascal(here.name));
            let types = (here.ty, canonical.ty);
            same::require(
                &mut graph.same,
                question,
                types,
                name.span(),
                true,
                |found, expected| message::brought_differs(name, here.name, found, expected, there),
            );
        }
        Some(known)
    }
}

fn signature(brought: &[Brought<'_>]) -> String {
    let item =
        |item: &Brought<'_>| format!("{}: {}", item.name, text::of_type(item.ty.to_token_stream()));
    let items: Vec<String> = brought.iter().map(item).collect();
    items.join(", ")
}
