//! The machine that was probably meant by a declaration with mistakes.

use std::collections::BTreeSet;

use quote::format_ident;
use syn::Ident;

use super::{
    Brought, Graph, State, Trigger, Way, hidden,
    reserved::{is_name_of_a_handler, is_reserved, is_reserved_state},
};
use crate::{
    message,
    parse::{Branch, Declaration, ItemKind, Transition},
    text::{bare, pascal},
};

/// A graph without moves, whose states and triggers are known as far as they could be parsed.
pub(crate) struct Guess<'a> {
    pub(crate) graph: Graph<'a>,
    /// The triggers that make methods, each with its first transition.
    pub(crate) methods: Vec<(Trigger<'a>, &'a Transition)>,
}

impl<'a> Guess<'a> {
    pub(crate) fn of(declaration: &'a Declaration) -> Self {
        let mut seen = BTreeSet::new();
        let once = declaration.states.iter().filter(|state| seen.insert(&state.name));
        let graph = Graph::new(declaration, once.map(State::new).collect());
        let mut guess = Self { graph, methods: Vec::new() };
        let (mut triggers, mut events) = (BTreeSet::new(), BTreeSet::new());
        for transition in declaration.all_transitions() {
            let name = bare(&transition.trigger);
            if is_reserved(declaration, &transition.trigger) || !triggers.insert(name) {
                continue;
            }
            let mut trigger = guess.trigger(transition);
            guess.methods.push((trigger.clone(), transition));
            // Events of one name, and items of one name, were reported.
            if events.insert(pascal(&transition.trigger)) {
                let mut seen = BTreeSet::new();
                trigger.brought.retain(|item| seen.insert(item.name));
                guess.graph.triggers.push(trigger);
            }
        }
        guess
    }

    pub(crate) fn transitions(&self, name: &'a Ident) -> impl Iterator<Item = &'a Transition> {
        self.graph.declaration.all_transitions().filter(move |other| other.trigger == *name)
    }

    fn trigger(&self, transition: &'a Transition) -> Trigger<'a> {
        let mut brought: Vec<Brought<'a>> = Vec::new();
        for item in &transition.payload {
            let ty = match &item.kind {
                ItemKind::Computed(_) => continue,
                ItemKind::Noted(ty) => ty,
                ItemKind::Field => {
                    let targets = transition.leads.targets();
                    // `Self` could be any state: the first with such a field is the best guess.
                    let stays = targets.iter().any(|target| target.stays());
                    let mut states = self.graph.declaration.states.iter().filter(|state| {
                        stays || targets.iter().any(|target| state.name == target.state)
                    });
                    let field = states.find_map(|state| state.field(&item.name));
                    field.map_or(&self.graph.declaration.unknown, |field| &field.ty)
                }
            };
            let audience = item.audience.unwrap_or_default();
            brought.push(Brought { name: &item.name, ty, was: &[], audience });
        }
        let name = &transition.trigger;
        let guard = self.transitions(name).find_map(|other| other.guard.as_ref());
        let refusal = guard.map(|guard| &guard.error);
        Trigger { name, brought, refusal, choice: self.ways(transition) }
    }

    /// The targets of a choice that are states, if the name of its enum is free.
    fn ways(&self, transition: &Transition) -> Option<Vec<Way>> {
        let declaration = self.graph.declaration;
        let name = format_ident!("After{}", pascal(&transition.trigger));
        let is_taken = || declaration.states.iter().any(|state| state.is_called(&name));
        if matches!(transition.leads, Branch::To(_)) || is_taken() {
            return None;
        }
        let leaves = |other: &Transition| other.trigger == transition.trigger;
        let states = declaration.states.iter();
        let mut sources = states.filter(|state| {
            let mut of_several = declaration.options.from_several.iter();
            state.transitions.iter().any(leaves)
                || of_several.any(|(names, other)| leaves(other) && state.is_among(names))
        });
        let only = sources.next().filter(|_| sources.next().is_none());
        let mut ways = Vec::new();
        for target in transition.leads.targets() {
            let way = if target.stays() {
                only.map_or(Some(Way::Same), |only| self.graph.state(&only.name).map(Way::To))
            } else {
                let meant =
                    || self.graph.state(message::nearest(&target.state, self.graph.names())?);
                self.graph.state(&target.state).or_else(meant).map(Way::To)
            };
            ways.extend(way.filter(|way| !ways.contains(way)));
        }
        // Without any variant, a value of it would make what follows unreachable.
        Some(if ways.is_empty() { vec![Way::Same] } else { ways })
    }
}

impl Graph<'_> {
    /// True if another item already has the name of the state, which was reported.
    pub(crate) fn is_taken(&self, state: &State<'_>) -> bool {
        // After this mistake there are no handlers.
        is_reserved_state(self.declaration, state.name()) && !is_name_of_a_handler(state.name())
            || hidden::hides(self.declaration, state.name())
    }
}
