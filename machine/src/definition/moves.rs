use core::fmt;

use super::{Definition, Edge, StateDef};

/// A legal move: the effect of a trigger in one state.
///
/// Most moves have one edge. A choice has one for each state that it can lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Move<'a> {
    definition: &'a Definition,
    /// Never empty; all have the same source, trigger, payload, actors and guard.
    edges: &'a [Edge],
}

impl<'a> Move<'a> {
    pub(super) fn new(definition: &'a Definition, edges: &'a [Edge]) -> Self {
        Self { definition, edges }
    }

    /// The trigger's name, such as `resume`.
    #[must_use]
    pub fn trigger(&self) -> &'a str {
        &self.edge().trigger
    }

    /// The state that it leaves.
    #[must_use]
    pub fn source(&self) -> &'a StateDef {
        &self.definition.states[self.edge().from]
    }

    /// The states that it can lead to.
    pub fn targets(&self) -> impl Iterator<Item = &'a StateDef> + use<'a> {
        let Self { definition, edges } = *self;
        edges.iter().map(move |edge| &definition.states[edge.to])
    }

    /// Its edges: one, or one for each target of a choice.
    #[must_use]
    pub fn edges(&self) -> &'a [Edge] {
        self.edges
    }

    /// Its edge, or the first one of a choice: they share the docs, the payload, the actors and the
    /// guard, and each has a condition.
    #[must_use]
    pub fn edge(&self) -> &'a Edge {
        &self.edges[0]
    }
}

/// `resume -> RUNNING`, or `confirm -> EXECUTING or SUMMARIZING` for a choice.
impl fmt::Display for Move<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> ", self.trigger())?;
        for (position, target) in self.targets().enumerate() {
            let separator = if position == 0 { "" } else { " or " };
            write!(f, "{separator}{}", target.label)?;
        }
        Ok(())
    }
}

/// One line, without the whole definition.
impl fmt::Debug for Move<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
