use super::{Definition, Edge, StateDef};
use crate::actor::Category;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit<'a> {
    /// It does, in its current state.
    Now,
    /// Another state does.
    Later,
    /// Some state does, but never from actors of this kind.
    NotFor(&'a Edge),
    /// No state does.
    Unknown,
}

impl Definition {
    /// Returns whether a move names a kind of actors that are people.
    pub(crate) fn is_for_person(&self, edge: &Edge) -> bool {
        edge.actors.iter().any(|kind| self.category(kind) == Category::Human)
    }

    /// Returns whether a state is a question: it may last, or only people, deadlines and `cancel`
    /// leave it, so no program works in it. What a person sends to a machine in such a state is an
    /// answer: for this visit only, and the only one.
    pub(crate) fn is_question(&self, state: usize) -> bool {
        let StateDef { stable, terminal, .. } = self.states[state];
        let is_for_program = |edge: &Edge| {
            let mut kinds = edge.actors.iter();
            let names_program = kinds.any(|kind| self.category(kind) != Category::Human);
            (names_program || edge.actors.is_empty())
                && edge.deadline.is_none()
                && edge.trigger != "cancel"
        };
        let is_for_person = |edge: &Edge| self.is_for_person(edge);
        !terminal
            && (stable
                || self.leaving(state).any(is_for_person)
                    && !self.leaving(state).any(is_for_program))
    }

    /// Checks whether a machine in a state takes a trigger from an actor of a kind, also by the
    /// name that the kind had before. Everything that sends, takes or offers messages asks this.
    pub(crate) fn fit(&self, state: Option<usize>, trigger: &str, kind: &str) -> Fit<'_> {
        let kind = self.current_kind(kind);
        let mut first = None;
        let mut fit = None;
        for edge in self.edges_of(trigger) {
            first.get_or_insert(edge);
            if edge.is_for_kind(kind) {
                if Some(edge.from) == state {
                    return Fit::Now;
                }
                fit = Some(Fit::Later);
            }
        }
        fit.or(first.map(Fit::NotFor)).unwrap_or(Fit::Unknown)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
