use super::{Definition, Edge};
use crate::actor::Category;

/// The answer to whether a machine takes a trigger.
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
    /// The edges of a trigger, also by the names that it had before.
    pub(crate) fn edges_of<'a>(&'a self, trigger: &'a str) -> impl Iterator<Item = &'a Edge> {
        let is_named = move |edge: &&Edge| {
            edge.trigger == trigger || edge.was.iter().any(|was| was == trigger)
        };
        self.edges.iter().filter(is_named)
    }

    /// Returns whether a move names a kind of actors that are people.
    pub(crate) fn is_for_person(&self, edge: &Edge) -> bool {
        edge.actors.iter().any(|kind| self.category(kind) == Category::Human)
    }

    /// Checks whether a machine in a state takes a trigger from an actor of a kind. Everything that sends, takes or
    /// offers messages asks this.
    pub(crate) fn fit(&self, state: Option<usize>, trigger: &str, kind: &str) -> Fit<'_> {
        let mut first = None;
        let mut fit = None;
        for edge in self.edges.iter() {
            if edge.trigger != trigger && edge.was.iter().all(|was| was != trigger) {
                continue;
            }
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
