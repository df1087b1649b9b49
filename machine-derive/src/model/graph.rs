use std::collections::{BTreeMap, BTreeSet, VecDeque};

use heck::{ToShoutySnakeCase, ToSnakeCase};
use proc_macro2::Span;
use syn::{Expr, Ident, LitStr, Path, Type};

use super::Invocation;
use crate::{
    message::Message,
    parse::{self, Audience, Declaration, Field, Transition},
    text::bare,
};

pub(crate) struct Graph<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) states: Vec<State<'a>>,
    pub(crate) triggers: Vec<Trigger<'a>>,
    /// Indexes by name: comparing identifiers is slow.
    pub(crate) state_index: BTreeMap<String, usize>,
    pub(crate) trigger_index: BTreeMap<String, usize>,
    /// In declaration order.
    pub(crate) moves: Vec<Move<'a>>,
    pub(crate) initial: usize,
    /// The types that must be the same and are written differently.
    pub(crate) same: Vec<Same<'a>>,
}

pub(crate) struct State<'a> {
    pub(crate) written: &'a parse::State,
    /// The name in stored data: `waiting`.
    pub(crate) stored: String,
    /// The name in messages: `WAITING`.
    pub(crate) label: String,
    /// The call that it makes, if its tool is known.
    pub(crate) invocation: Option<Invocation<'a>>,
}

#[derive(Clone)]
pub(crate) struct Trigger<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) brought: Vec<Brought<'a>>,
    /// The error type of its guards, if it has any.
    pub(crate) refusal: Option<&'a Type>,
    /// The possible targets of a choice, the same from every state.
    pub(crate) choice: Option<Vec<Way>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Brought<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) was: &'a [LitStr],
    pub(crate) audience: Audience,
}

/// One way that a choice can go; a variant of the enum that its method returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    To(usize),
    Same,
}

pub(crate) struct Move<'a> {
    pub(crate) from: usize,
    pub(crate) trigger: usize,
    pub(crate) written: &'a Transition,
    /// The types of the actors; empty means anyone.
    pub(crate) by: &'a [Path],
    /// The resolved targets, in the order in which they are written.
    pub(crate) leads: Vec<Target<'a>>,
    /// The states that it can lead to, each once; its edges in the table.
    pub(crate) targets: Vec<usize>,
    /// The index of its first edge in the table.
    pub(crate) first_edge: usize,
    pub(crate) guard: Option<Guard<'a>>,
    /// The group for whose states it was declared, which may be one of several.
    pub(crate) group: Option<&'a Ident>,
}

#[derive(Clone, Copy)]
pub(crate) struct Guard<'a> {
    pub(crate) written: &'a parse::Guard,
    /// See [`Graph::same`]: the type that it refuses with is written in another way elsewhere.
    pub(crate) same: Option<usize>,
}

pub(crate) struct Target<'a> {
    pub(crate) to: usize,
    /// True if it is written `Self`.
    pub(crate) stays: bool,
    pub(crate) when: String,
    /// The source of each field, in the target's order.
    pub(crate) fields: Vec<(&'a Field, Source<'a>)>,
}

/// The source of a field of a target. The number is an index into [`Graph::same`].
pub(crate) enum Source<'a> {
    Brought(Option<usize>),
    Carried(Option<usize>),
    Computed(&'a Expr),
}

/// Two types that must be the same. Their texts differ, so the compiler decides.
pub(crate) struct Same<'a> {
    /// The trait that makes the compiler compare; rustc shows its name.
    pub(crate) name: Ident,
    pub(crate) found: &'a Type,
    pub(crate) expected: &'a Type,
    pub(crate) message: Message,
    pub(crate) span: Span,
    /// True if nothing is converted between them, so that they are compared separately.
    pub(crate) alone: bool,
}

impl<'a> Trigger<'a> {
    pub(crate) fn items(&self) -> Vec<&'a Ident> {
        self.brought.iter().map(|brought| brought.name).collect()
    }

    /// True if a way of its choice leads to the state that was left, which may be one of several.
    pub(crate) fn may_stay(&self) -> bool {
        self.choice.iter().flatten().any(|way| *way == Way::Same)
    }
}

impl Move<'_> {
    pub(crate) fn is_choice(&self) -> bool {
        self.written.leads.is_choice()
    }

    /// The edge of the table that leads to this state, which is one of the targets.
    pub(crate) fn edge(&self, to: usize) -> usize {
        self.first_edge + self.targets.iter().position(|target| *target == to).unwrap_or(0)
    }
}

impl<'a> State<'a> {
    pub(super) fn new(written: &'a parse::State) -> Self {
        let name = bare(&written.name);
        Self {
            written,
            stored: name.to_snake_case(),
            label: name.to_shouty_snake_case(),
            invocation: Invocation::of(written),
        }
    }

    pub(crate) fn name(&self) -> &'a Ident {
        &self.written.name
    }
}

impl<'a> Graph<'a> {
    /// A graph without moves. A name stands for the first state that has it.
    pub(super) fn new(declaration: &'a Declaration, states: Vec<State<'a>>) -> Self {
        let mut state_index = BTreeMap::new();
        for (position, state) in states.iter().enumerate() {
            state_index.entry(state.name().to_string()).or_insert(position);
        }
        Self {
            declaration,
            initial: states.iter().position(|state| state.written.initial).unwrap_or(0),
            states,
            triggers: Vec::new(),
            state_index,
            trigger_index: BTreeMap::new(),
            moves: Vec::new(),
            same: Vec::new(),
        }
    }

    /// The actors of all moves, each once, in the order in which they are written.
    pub(crate) fn actors(&self) -> Vec<&'a Path> {
        deduplicated(self.moves.iter().flat_map(|step| step.by))
    }

    pub(crate) fn names(&self) -> Vec<&'a Ident> {
        self.states.iter().map(State::name).collect()
    }

    /// The name of the machine in stored data and of the generated module.
    pub(crate) fn stored(&self) -> String {
        bare(&self.declaration.name).to_snake_case()
    }

    pub(crate) fn derives(&self, name: &str) -> bool {
        let mut last = self.declaration.derives.iter().filter_map(|path| path.segments.last());
        last.any(|last| last.ident == name)
    }

    /// The moves out of a state, which are adjacent: moves are in the order of their states.
    pub(crate) fn leaving(&self, state: usize) -> impl Iterator<Item = &Move<'a>> {
        let first = self.moves.partition_point(|step| step.from < state);
        self.moves[first..].iter().take_while(move |step| step.from == state)
    }

    pub(crate) fn moves_of(&self, trigger: usize) -> impl Iterator<Item = &Move<'a>> {
        self.moves.iter().filter(move |step| step.trigger == trigger)
    }

    /// The names that a trigger had before. One of its transitions has them.
    pub(crate) fn was_of(&self, trigger: usize) -> &'a [LitStr] {
        let mut was = self.moves_of(trigger).map(|step| &*step.written.was);
        was.find(|was| !was.is_empty()).unwrap_or_default()
    }

    pub(crate) fn state(&self, name: &Ident) -> Option<usize> {
        self.state_index.get(&name.to_string()).copied()
    }

    /// The state that a target means in a transition of this one.
    pub(super) fn target(&self, from: usize, target: &parse::Target) -> Option<usize> {
        if target.stays() { Some(from) } else { self.state(&target.state) }
    }

    /// True for a name that every expression has.
    pub(super) fn is_ours(&self, name: &Ident) -> bool {
        let has_context = self.declaration.options.context.is_some();
        name == "source" || name == "status" || name == "context" && has_context
    }

    /// True if some state restricts this trigger to certain actors.
    pub(crate) fn is_restricted(&self, trigger: usize) -> bool {
        self.moves_of(trigger).any(|step| !step.by.is_empty())
    }

    /// The states that can be reached from `start`, itself included.
    pub(crate) fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let targets = |state| self.leaving(state).flat_map(|step| step.targets.iter().copied());
        closure(BTreeSet::from([start]), targets)
    }

    /// The states from which one of `ends` can be reached, these included.
    pub(crate) fn leads_to(&self, ends: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for step in &self.moves {
            step.targets.iter().for_each(|to| into[*to].push(step.from));
        }
        closure(ends, |state| into[state].iter().copied())
    }

    /// A shortest path from `start` to `end` that avoids some states and takes only some moves, as
    /// in `DRAFT -submit-> OPEN`. A path has at least one step.
    pub(crate) fn path(
        &self,
        start: usize,
        end: usize,
        avoid: &[usize],
        takes: impl Fn(&Move<'a>, usize) -> bool,
    ) -> Option<String> {
        let mut seen = BTreeSet::new();
        let mut next = VecDeque::from([(start, self.states[start].label.clone())]);
        while let Some((state, path)) = next.pop_front() {
            for step in self.leaving(state) {
                let trigger = bare(self.triggers[step.trigger].name);
                for to in step.targets.iter().copied().filter(|to| takes(step, *to)) {
                    let path = format!("{path} -{trigger}-> {}", self.states[to].label);
                    if to == end {
                        return Some(path);
                    }
                    if !avoid.contains(&to) && seen.insert(to) {
                        next.push_back((to, path));
                    }
                }
            }
        }
        None
    }

    /// The groups with their states, in the order in which they are first named.
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

    /// The triggers that are declared for this whole group, and for no other group or state of it.
    ///
    /// In a generic machine each state has its own method, because states do not know all
    /// parameters.
    pub(crate) fn triggers_of(&self, group: &Ident) -> Vec<usize> {
        if !self.declaration.generics.params.is_empty() {
            return Vec::new();
        }
        let declared = &self.declaration.options.from_several;
        let of_group =
            declared.iter().filter(|(names, _)| matches!(&names[..], [only] if only == group));
        let triggers = of_group.filter_map(|(_, transition)| {
            let name = &transition.trigger;
            let once = declared.iter().filter(|(_, other)| other.trigger == *name).count() == 1;
            let trigger = self.trigger_index.get(&bare(name)).copied().filter(|_| once)?;
            let is_it = |step: &Move<'_>| step.trigger == trigger && step.group == Some(group);
            let is_member = |state: &usize| self.states[*state].written.groups.contains(group);
            let mut members = (0..self.states.len()).filter(is_member);
            members.all(|state| self.leaving(state).any(is_it)).then_some(trigger)
        });
        triggers.collect()
    }

    /// The group for which this move was declared, if it is a method of the whole group.
    pub(crate) fn group_of(&self, step: &Move<'a>) -> Option<&'a Ident> {
        step.group.filter(|group| self.triggers_of(group).contains(&step.trigger))
    }

    /// The legal moves of a state, as a sentence. The runtime describes a refusal in the same
    /// words.
    pub(crate) fn legal_moves(&self, state: usize) -> String {
        let moves = self.leaving(state).map(|step| {
            format!("{} -> {}", bare(self.triggers[step.trigger].name), self.targets_text(step))
        });
        let moves: Vec<String> = moves.collect();
        format!("from {} you can: {}", self.states[state].label, moves.join(", "))
    }

    pub(crate) fn targets_text(&self, step: &Move<'_>) -> String {
        let targets = step.targets.iter().map(|to| self.states[*to].label.as_str());
        targets.collect::<Vec<_>>().join(" or ")
    }

    pub(crate) fn variant(&self, way: Way) -> Ident {
        match way {
            Way::To(to) => self.states[to].name().clone(),
            Way::Same => quote::format_ident!("Same"),
        }
    }

    pub(crate) fn deadlines(&self, state: usize) -> impl Iterator<Item = &Move<'a>> {
        self.leaving(state).filter(|step| step.written.after.is_some())
    }
}

/// These states, and all that follow from them.
pub(super) fn closure<I: Iterator<Item = usize>>(
    start: BTreeSet<usize>,
    next: impl Fn(usize) -> I,
) -> BTreeSet<usize> {
    let mut waiting: Vec<usize> = start.iter().copied().collect();
    let mut seen = start;
    while let Some(state) = waiting.pop() {
        waiting.extend(next(state).filter(|to| seen.insert(*to)));
    }
    seen
}

pub(crate) fn deduplicated<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}
