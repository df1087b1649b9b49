//! The states that make calls, and whether a person is there.

use syn::{Ident, Path};

use super::{Graph, Invocation, Move};

impl<'a> Graph<'a> {
    /// The states that make a call.
    pub(crate) fn invocations(&self) -> impl Iterator<Item = (usize, &Invocation<'a>)> {
        let states = self.states.iter().enumerate();
        states.filter_map(|(index, state)| Some((index, state.invocation.as_ref()?)))
    }

    /// True if the trigger takes the outcome of a call in some state.
    pub(crate) fn takes_an_outcome(&self, trigger: &Ident) -> bool {
        let mut invokes = self.declaration.states.iter().filter_map(|state| state.invoke.as_ref());
        invokes.any(|invoke| invoke.roles_of(trigger).next().is_some())
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
        let path = |start| self.path_along(start, state, &[], enters);
        path(self.initial).or_else(|| path(state))
    }

    /// True if code of the program has to make a transition of this state: neither a person does,
    /// nor a deadline, nor the outcome of a call.
    pub(crate) fn asks_for_code(&self, state: usize) -> bool {
        let invoke = self.states[state].written.invoke.as_ref();
        let is_outcome = |trigger: &Ident| {
            invoke.is_some_and(|invoke| invoke.roles_of(trigger).next().is_some())
        };
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
