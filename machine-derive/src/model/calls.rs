//! The states that make calls: whether a person is there, and which transitions leave calls behind
//! that may be under way.

use std::{collections::BTreeSet, ptr};

use syn::{Ident, Path};

use super::{Graph, Invocation, Move, graph::closure};
use crate::{role::Role, text::bare};

impl<'a> Graph<'a> {
    pub(crate) fn invocations(&self) -> impl Iterator<Item = (usize, &Invocation<'a>)> {
        let states = self.states.iter().enumerate();
        states.filter_map(|(index, state)| Some((index, state.invocation.as_ref()?)))
    }

    /// True if the trigger takes the outcome of a call in some state.
    pub(crate) fn takes_an_outcome(&self, trigger: &Ident) -> bool {
        let mut invokes = self.declaration.states.iter().filter_map(|state| state.invoke.as_ref());
        invokes.any(|invoke| invoke.takes(trigger))
    }

    /// A way to enter a state without a transition that only a person may take: from the start, or
    /// again from the state itself. A person who was there once proves nothing of the next entry.
    pub(crate) fn unattended_path(&self, state: usize) -> Option<String> {
        if state == self.initial {
            return Some(format!("the machine begins in {}", self.states[state].label));
        }
        let enters = |step: &Move<'a>, to: usize| {
            let mut leads = step.leads.iter().filter(|target| target.to == to);
            !step.needs_a_person() && leads.any(|target| !target.stays)
        };
        let path = |start| self.path(start, state, &[], enters);
        path(self.initial).or_else(|| path(state))
    }

    /// True if code of the program has to make a transition of this state: neither a person does,
    /// nor a deadline, nor the outcome of a call.
    pub(crate) fn asks_for_code(&self, state: usize) -> bool {
        let invoke = self.states[state].written.invoke.as_ref();
        let is_outcome = |trigger: &Ident| invoke.is_some_and(|invoke| invoke.takes(trigger));
        self.moves.iter().filter(|step| step.from == state).any(|step| {
            !step.needs_a_person()
                && step.written.after.is_none()
                && !is_outcome(self.triggers[step.trigger].name)
        })
    }

    /// The types that stand for a person in the table.
    pub(crate) fn people(&self) -> Vec<&'a Path> {
        self.actors().into_iter().filter(|actor| is_a_person(actor)).collect()
    }

    /// The transition that takes outcomes of this role in a state, if it leaves the state without
    /// `detach` while a call may be under way.
    ///
    /// One call that is overdue is under way itself. A branch that stays is enough: the others
    /// wait, if it is under way. Of a set, two calls that have ended would wait for each other, so
    /// every branch stays.
    pub(crate) fn leaves_too_early(&self, state: usize, role: Role) -> Option<&Move<'a>> {
        let invoke = self.states[state].written.invoke.as_ref()?;
        let trigger = self.trigger_index.get(&bare(invoke.trigger(role)?))?;
        let mut steps = self.leaving(state);
        let step = steps.find(|step| step.trigger == *trigger && step.written.detach.is_none())?;
        let mut leads = step.leads.iter();
        let leaves = match role {
            Role::Each => leads.any(|target| !target.stays),
            Role::Failed => invoke.within.is_some() && leads.all(|target| !target.stays),
            // That of one call brings a receipt.
            Role::Done => {
                invoke.is_set && invoke.within.is_some() && leads.all(|target| !target.stays)
            }
        };
        leaves.then_some(step)
    }

    /// The ends that wait for ever, because a call was left behind in `state`, and no state that
    /// invokes its tool is entered again; on an outcome, because its call has no other one, and
    /// nothing else leads back. Each comes after the transition that left the call behind.
    pub(crate) fn left_behind(&self, state: usize) -> Vec<(&Move<'a>, &Move<'a>)> {
        let tool = |state: usize| self.states[state].invocation.as_ref().map(|it| it.tool);
        let takes = |other: &usize| tool(*other) == tool(state);
        let back = self.leads_to((0..self.states.len()).filter(takes).collect());
        let is_terminal = |state: &usize| self.states[*state].written.terminal;
        let mut found: Vec<(&Move<'a>, &Move<'a>)> = Vec::new();
        for detached in self.leaving(state).filter(|step| step.written.detach.is_some()) {
            let others =
                |step: &'_ Move<'a>| step.targets.clone().into_iter().filter(|to| !takes(to));
            let after = |state| self.leaving(state).flat_map(others);
            let lost = closure(others(detached).collect(), after).into_iter();
            let lost = lost.filter(|lost| !back.contains(lost));
            let elsewhere = |step: &'_ Move<'a>| {
                step.targets.clone().into_iter().filter(|to| *to != state).collect::<BTreeSet<_>>()
            };
            let after = |from| self.leaving(from).flat_map(elsewhere);
            let passed = closure(elsewhere(detached), after).into_iter();
            let on_outcome = passed.flat_map(|from| self.ends_on_outcome(from, state));
            for end in lost.flat_map(|lost| self.leaving(lost)).chain(on_outcome) {
                let is_known = found.iter().any(|(_, it)| ptr::eq(it.written, end.written));
                if end.written.detach.is_none() && end.targets.iter().any(is_terminal) && !is_known
                {
                    found.push((detached, end));
                }
            }
        }
        found
    }

    /// The transitions on an outcome in a state from which no other transition leads back to
    /// `origin`.
    fn ends_on_outcome(&self, from: usize, origin: usize) -> Vec<&Move<'a>> {
        let Some(invoke) = &self.states[from].written.invoke else { return Vec::new() };
        let is_outcome = |step: &&Move<'a>| invoke.takes(self.triggers[step.trigger].name);
        let back = self.leads_to([origin].into());
        let (outcomes, others): (Vec<_>, Vec<_>) = self.leaving(from).partition(is_outcome);
        let leads_back = |step: &&Move<'a>| step.targets.iter().any(|to| back.contains(to));
        if others.iter().any(leads_back) { Vec::new() } else { outcomes }
    }
}

impl Move<'_> {
    /// True if only a person may make it. A deadline makes its move without one.
    fn needs_a_person(&self) -> bool {
        !self.by.is_empty() && self.by.iter().all(is_a_person) && self.written.after.is_none()
    }
}

/// `Human`, by whatever path. That it is the library's is for the compiler.
fn is_a_person(actor: &Path) -> bool {
    actor.segments.last().is_some_and(|last| last.ident == "Human")
}
