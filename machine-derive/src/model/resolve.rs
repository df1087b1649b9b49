use std::collections::BTreeSet;

use quote::{ToTokens, format_ident};
use syn::{Expr, Ident, Path, spanned::Spanned};

use super::{
    Brought, Graph, Guard, Move, State, Target, Trigger, Way, clarity, deduplicated, hidden,
    payload,
    reserved::{self, is_reserved, is_reserved_state},
    same,
};
use crate::{
    errors::Errors,
    message,
    parse::{Declaration, Transition},
    text::{self, bare, pascal},
};

/// Resolves what can be resolved and reports the rest. A move with a mistake is left out.
pub(crate) fn resolve<'a>(declaration: &'a Declaration, errors: &mut Errors) -> Graph<'a> {
    let mut graph = Graph::new(declaration, declaration.states.iter().map(State::new).collect());
    for (position, state) in declaration.states.iter().enumerate() {
        if graph.state(&state.name) != Some(position) {
            errors.on(&state.name, message::duplicate_state(&state.name));
        }
    }
    one_is_initial(declaration, errors);
    // Mistakes in a transition of several states are reported for one of them.
    let mut reported = BTreeSet::new();
    for (from, state) in declaration.states.iter().enumerate() {
        if is_reserved_state(declaration, &state.name) {
            errors.on(&state.name, message::reserved_state(&state.name));
        }
        clarity::check_invocation(&graph, state, errors);
        for transition in &state.transitions {
            Resolver { graph: &mut graph, errors, from, transition }.resolve(None);
        }
        for (index, (names, transition)) in declaration.options.from_several.iter().enumerate() {
            // A state's own declaration overrides that of several.
            let own =
                state.transitions.iter().any(|own| bare(&own.trigger) == bare(&transition.trigger));
            if state.is_among(names) && !reported.contains(&index) && !own {
                let before = errors.len();
                let group = names.iter().find(|name| state.groups.contains(name));
                Resolver { graph: &mut graph, errors, from, transition }.resolve(group);
                if errors.len() > before {
                    reported.insert(index);
                }
            }
        }
    }
    if graph.stored() == "machine" || graph.declaration.name == "State" {
        errors.on(&declaration.name, message::reserved_machine(&declaration.name));
    }
    name_the_only_source(&mut graph);
    reserved::check(&graph, errors);
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
        graph.triggers[index].choice = Some(deduplicated(named));
    }
}

fn one_is_initial(declaration: &Declaration, errors: &mut Errors) {
    let mut initials = declaration.states.iter().filter(|state| state.initial);
    let Some(chosen) = initials.next() else {
        let first = &declaration.states[0].name;
        return errors.on(&declaration.name, message::no_initial(first));
    };
    for second in initials {
        errors.on(&second.name, message::second_initial(&chosen.name));
    }
}

struct Resolver<'g, 'a> {
    graph: &'g mut Graph<'a>,
    errors: &'g mut Errors,
    from: usize,
    transition: &'a Transition,
}

impl<'a> Resolver<'_, 'a> {
    /// Adds the move, unless it has a mistake.
    fn resolve(&mut self, group: Option<&'a Ident>) -> Option<()> {
        let (from, transition) = (self.from, self.transition);
        let (name, state) = (&transition.trigger, self.graph.states[from].written);
        if is_reserved(self.graph.declaration, name) {
            self.errors.on(name, message::reserved(name));
        }
        // A transition that has to go needs no other repair.
        let mut unreported = Errors::default();
        let errors = if state.terminal {
            self.errors.on(name, message::exit_from_terminal(&state.name, name));
            &mut unreported
        } else {
            &mut *self.errors
        };
        let (brought, leads) = payload::resolve(self.graph, from, transition, errors)?;
        let trigger = self.trigger(brought)?;
        let by = self.actors()?;
        let mut actors = by.iter().enumerate();
        if let Some((_, actor)) = actors.find(|(place, actor)| by[..*place].contains(actor)) {
            let text = text::of_type(actor.to_token_stream());
            self.errors.on(actor, message::duplicate_actor(&text));
            return None;
        }
        let choice = transition.leads.is_choice().then(|| {
            let way = |to: &Target<'_>| if to.stays { Way::Same } else { Way::To(to.to) };
            deduplicated(leads.iter().map(way))
        });
        self.same_everywhere(trigger, choice.as_deref())?;
        let guard = self.guard(trigger);
        if let Some(after) = &transition.after {
            self.deadline_needs_no_caller(trigger, after);
        }
        let targets = deduplicated(leads.iter().map(|target| target.to));
        let known = &mut self.graph.triggers[trigger].choice;
        *known = known.take().or(choice);
        let last = self.graph.moves.last();
        let first_edge = last.map_or(0, |last| last.first_edge + last.targets.len());
        let written = transition;
        let step = Move { from, trigger, written, by, leads, targets, first_edge, guard, group };
        self.graph.moves.push(step);
        Some(())
    }

    /// The actors that may take it: those of `by` or, for the outcome of a call, the call alone.
    fn actors(&mut self) -> Option<&'a [Path]> {
        let declaration = self.graph.declaration;
        let invoke = declaration.states[self.from].invoke.as_ref();
        let name = &self.transition.trigger;
        let Some(invoke) = invoke.filter(|invoke| invoke.takes(name)) else {
            return Some(&self.transition.by);
        };
        let Transition { by, guard, after, .. } = self.transition;
        let by = by.first().map(|actor| ("by", actor.to_token_stream()));
        let guard = guard.as_ref().map(|guard| ("guard", guard.path.to_token_stream()));
        let after = after.as_ref().map(|after| ("after", after.to_token_stream()));
        let before = self.errors.len();
        for (option, given) in [by, guard, after].into_iter().flatten() {
            self.errors.on(given, message::restricted_outcome(name, option, &invoke.name));
        }
        (self.errors.len() == before).then_some(&declaration.call)
    }

    /// The state of the first move of this trigger; this one if there is none.
    fn first_source(&self, trigger: usize) -> &'a Ident {
        let first = self.graph.moves_of(trigger).next();
        self.graph.states[first.map_or(self.from, |first| first.from)].name()
    }

    /// A trigger returns the same type from every state: guarded or not, a choice between the same
    /// states or none. (If a choice is first declared for one state only, `Self` is that state.)
    fn same_everywhere(&mut self, trigger: usize, choice: Option<&[Way]>) -> Option<()> {
        let (transition, there) = (self.transition, self.first_source(trigger));
        let name = &transition.trigger;
        let Some(first) = self.graph.moves_of(trigger).next() else { return Some(()) };
        if first.guard.is_some() != transition.guard.is_some() {
            self.errors.on(name, message::guard_differs(name, there));
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
        let (name, there) = (&self.transition.trigger, self.first_source(trigger));
        let expected = *self.graph.triggers[trigger].refusal.get_or_insert(&written.error);
        let question = format_ident!("Refuse{}", pascal(name));
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
            self.errors.on(brought.name, message::deadline_brings(brought.name, name));
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
            self.errors.on(name, message::duplicate_trigger(name, source));
            return None;
        }
        let there = self.first_source(known);
        let graph = &mut *self.graph;
        let canonical = &graph.triggers[known].brought;
        if !brought.iter().map(|item| item.name).eq(canonical.iter().map(|item| item.name)) {
            let (here, canonical) = (signature(&brought), signature(canonical));
            let text = message::payload_differs(name, &here, &canonical, there);
            self.errors.on(name, text);
            return None;
        }
        for (here, canonical) in brought.iter().zip(canonical) {
            let question = format_ident!("{}Brings{}", pascal(name), pascal(here.name));
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
