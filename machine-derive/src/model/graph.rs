use std::collections::{BTreeMap, BTreeSet, VecDeque};

use heck::{ToShoutySnakeCase, ToSnakeCase};
use proc_macro2::Span;
use syn::{Expr, Field, Ident, Path, Type};

use crate::parse::{self, Declaration, Guard};

/// A machine.
pub(crate) struct Graph<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) states: Vec<State<'a>>,
    pub(crate) triggers: Vec<Trigger<'a>>,
    /// Where each state and each trigger stands, by name: comparing identifiers is slow.
    pub(crate) state_index: BTreeMap<String, usize>,
    pub(crate) trigger_index: BTreeMap<String, usize>,
    /// In the order in which they are written.
    pub(crate) moves: Vec<Move<'a>>,
    pub(crate) initial: usize,
}

/// A state.
pub(crate) struct State<'a> {
    pub(crate) written: &'a parse::State,
    /// The name in stored data: `waiting`.
    pub(crate) stored: String,
    /// The name in messages: `WAITING`.
    pub(crate) label: String,
}

/// A trigger, whichever states it leaves.
pub(crate) struct Trigger<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) brought: Vec<Brought<'a>>,
}

/// What the caller brings to a trigger.
#[derive(Clone, Copy)]
pub(crate) struct Brought<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
}

/// A legal move.
pub(crate) struct Move<'a> {
    pub(crate) from: usize,
    pub(crate) trigger: usize,
    pub(crate) to: usize,
    /// Where each field of the target comes from, in the target's order.
    pub(crate) fields: Vec<(&'a Field, Source<'a>)>,
    pub(crate) by: &'a [Path],
    pub(crate) guard: Option<&'a Guard>,
    pub(crate) span: Span,
}

/// Where a field of the target comes from.
pub(crate) enum Source<'a> {
    Brought,
    Carried,
    Computed(&'a Expr),
}

impl<'a> State<'a> {
    pub(super) fn new(written: &'a parse::State) -> Self {
        let name = bare(&written.name);
        Self { written, stored: name.to_snake_case(), label: name.to_shouty_snake_case() }
    }

    pub(crate) fn name(&self) -> &'a Ident {
        &self.written.name
    }
}

impl<'a> Graph<'a> {
    /// The actors that some move names, each once, in the order in which they are written.
    pub(crate) fn actors(&self) -> Vec<&'a Path> {
        let mut actors = Vec::new();
        for actor in self.moves.iter().flat_map(|step| step.by) {
            if !actors.contains(&actor) {
                actors.push(actor);
            }
        }
        actors
    }
}

impl Graph<'_> {
    /// The name of the machine in stored data, and of the generated module.
    pub(crate) fn stored(&self) -> String {
        bare(&self.declaration.name).to_snake_case()
    }

    /// The moves out of a state. They stand together: moves are in the order of their states.
    pub(crate) fn leaving(&self, state: usize) -> impl Iterator<Item = &Move<'_>> {
        let first = self.moves.partition_point(|step| step.from < state);
        self.moves[first..].iter().take_while(move |step| step.from == state)
    }

    /// Where the state of this name stands.
    pub(crate) fn state(&self, name: &Ident) -> Option<usize> {
        self.state_index.get(&name.to_string()).copied()
    }

    /// Whether some state lets only certain actors take this trigger.
    pub(crate) fn is_restricted(&self, trigger: usize) -> bool {
        self.moves.iter().any(|step| step.trigger == trigger && !step.by.is_empty())
    }

    /// The states that can be reached from `start`, itself included.
    pub(crate) fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::from([start]);
        let mut next = vec![start];
        while let Some(state) = next.pop() {
            next.extend(self.leaving(state).map(|step| step.to).filter(|to| seen.insert(*to)));
        }
        seen
    }

    /// The states from which one of `ends` can be reached, these included.
    pub(crate) fn leads_to(&self, ends: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for step in &self.moves {
            into[step.to].push(step.from);
        }
        let mut next: Vec<usize> = ends.iter().copied().collect();
        let mut seen = ends;
        while let Some(state) = next.pop() {
            next.extend(into[state].iter().copied().filter(|from| seen.insert(*from)));
        }
        seen
    }

    /// A shortest path from `start` to `end` that avoids some states, as a person would write it:
    /// `DRAFT -submit-> OPEN`. A path has at least one step.
    pub(crate) fn path(&self, start: usize, end: usize, avoid: &[usize]) -> Option<String> {
        let mut seen = BTreeSet::new();
        let mut next = VecDeque::from([(start, self.states[start].label.clone())]);
        while let Some((state, path)) = next.pop_front() {
            for step in self.leaving(state) {
                let trigger = bare(self.triggers[step.trigger].name);
                let path = format!("{path} -{trigger}-> {}", self.states[step.to].label);
                if step.to == end {
                    return Some(path);
                }
                if !avoid.contains(&step.to) && seen.insert(step.to) {
                    next.push_back((step.to, path));
                }
            }
        }
        None
    }

    /// The groups, in the order in which they are first named, each with its states.
    pub(crate) fn groups(&self) -> Vec<(&Ident, Vec<usize>)> {
        let mut groups: Vec<(&Ident, Vec<usize>)> = Vec::new();
        for (index, state) in self.states.iter().enumerate() {
            for name in &state.written.groups {
                match groups.iter_mut().find(|(group, _)| *group == name) {
                    Some((_, members)) if members.contains(&index) => {}
                    Some((_, members)) => members.push(index),
                    None => groups.push((name, vec![index])),
                }
            }
        }
        groups
    }

    /// The triggers that are declared for this whole group, and for no other group.
    ///
    /// Where the states do not know all of the machine's parameters, each has its own method.
    pub(crate) fn triggers_of(&self, group: &Ident) -> Vec<usize> {
        if !self.declaration.generics.params.is_empty() {
            return Vec::new();
        }
        let declared = &self.declaration.options.from_groups;
        let of_group = declared.iter().filter(|(name, _)| name == group);
        let triggers = of_group.filter(|(_, transition)| {
            let name = &transition.trigger;
            declared.iter().filter(|(_, other)| other.trigger == *name).count() == 1
        });
        triggers
            .filter_map(|(_, transition)| self.trigger_index.get(&transition.trigger.to_string()))
            .copied()
            .collect()
    }

    /// The group for whose states this move was declared at once.
    pub(crate) fn group_of(&self, step: &Move<'_>) -> Option<&Ident> {
        let mut groups = self.states[step.from].written.groups.iter();
        groups.find(|group| self.triggers_of(group).contains(&step.trigger))
    }

    /// What can be done in a state, as a sentence. The runtime says the same of a refusal.
    pub(crate) fn legal_moves(&self, state: usize) -> String {
        let label = &self.states[state].label;
        let moves: Vec<String> = self
            .leaving(state)
            .map(|step| {
                format!(
                    "{} -> {}",
                    bare(self.triggers[step.trigger].name),
                    self.states[step.to].label
                )
            })
            .collect();
        format!("from {label} you can: {}", moves.join(", "))
    }
}

/// The name without `r#`.
pub(crate) fn bare(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}
