use core::fmt;

use super::Fingerprint;
use crate::actor::{Actor, Category};

/// A machine as plain data: its states, its edges, who may take them.
///
/// `#[machine]` writes one of these as `DEFINITION`. Resume checks, refusals, diagrams and views
/// all read it, so that none of them can say anything else than the enum says.
///
/// ```
/// use machine::contract::execution;
///
/// let waiting = execution::DEFINITION.state("waiting").unwrap();
/// let moves: Vec<_> = execution::DEFINITION.leaving(waiting).map(|edge| edge.trigger).collect();
/// assert_eq!(moves, ["resume", "cancel", "timeout"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// The machine's name in stored data: the enum's name in `snake_case`.
    pub name: &'static str,
    /// The doc comment of the enum.
    pub docs: &'static str,
    /// The states, in the order in which they are written.
    pub states: &'static [StateDef],
    /// The legal moves, in the order in which they are written.
    pub edges: &'static [Edge],
    /// Which state a new machine is in, as an index into `states`.
    pub initial: usize,
    /// The kinds of actor that some edge names, each with what people are shown of it (OB-3).
    pub actors: &'static [(&'static str, Category)],
    /// Changes when a name, a field, an edge or an actor changes; docs do not count.
    pub fingerprint: Fingerprint,
}

/// One state of a [`Definition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateDef {
    /// The name in stored data, such as `waiting`.
    pub name: &'static str,
    /// The name in messages, such as `WAITING`.
    pub label: &'static str,
    /// The doc comment of the variant.
    pub docs: &'static str,
    /// May last forever: a process can end here.
    pub stable: bool,
    /// Is never left.
    pub terminal: bool,
    /// The state's data.
    pub fields: &'static [Field],
}

/// A field of a state, or an item of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name as written.
    pub name: &'static str,
    /// The type as written.
    pub ty: &'static str,
}

/// One legal move of a [`Definition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The source, as an index into [`Definition::states`].
    pub from: usize,
    /// The trigger's name, such as `resume`.
    pub trigger: &'static str,
    /// The target, as an index into [`Definition::states`].
    pub to: usize,
    /// What the caller brings.
    pub payload: &'static [Field],
    /// The kinds of actor that may take this edge; empty means anyone.
    pub actors: &'static [&'static str],
    /// The function that may still refuse it, as written. It does not count for the fingerprint:
    /// stored data do not depend on it.
    pub guard: Option<&'static str>,
}

impl StateDef {
    /// A row of the table: a state without data that is left again.
    #[must_use]
    pub const fn new(name: &'static str, label: &'static str) -> Self {
        Self { name, label, docs: "", stable: false, terminal: false, fields: &[] }
    }

    /// With its doc comment.
    #[must_use]
    pub const fn docs(self, docs: &'static str) -> Self {
        Self { docs, ..self }
    }

    /// May last forever.
    #[must_use]
    pub const fn stable(self) -> Self {
        Self { stable: true, ..self }
    }

    /// Is never left.
    #[must_use]
    pub const fn terminal(self) -> Self {
        Self { terminal: true, ..self }
    }

    /// With data.
    #[must_use]
    pub const fn fields(self, fields: &'static [Field]) -> Self {
        Self { fields, ..self }
    }
}

impl Field {
    /// A row of the table.
    #[must_use]
    pub const fn new(name: &'static str, ty: &'static str) -> Self {
        Self { name, ty }
    }
}

impl Edge {
    /// A row of the table: a move that brings nothing and that anyone may make.
    #[must_use]
    pub const fn new(from: usize, trigger: &'static str, to: usize) -> Self {
        Self { from, trigger, to, payload: &[], actors: &[], guard: None }
    }

    /// With what the caller brings.
    #[must_use]
    pub const fn payload(self, payload: &'static [Field]) -> Self {
        Self { payload, ..self }
    }

    /// For these kinds of actor only.
    #[must_use]
    pub const fn actors(self, actors: &'static [&'static str]) -> Self {
        Self { actors, ..self }
    }

    /// With the function that may still refuse it.
    #[must_use]
    pub const fn guard(self, guard: &'static str) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// Whether this kind of actor may take this edge.
    #[must_use]
    pub fn is_for<A: Actor>(&self) -> bool {
        self.actors.is_empty() || self.actors.contains(&A::KIND)
    }
}

impl Definition {
    /// Builds the table and computes its fingerprint.
    #[must_use]
    pub const fn new(
        name: &'static str,
        docs: &'static str,
        states: &'static [StateDef],
        edges: &'static [Edge],
        initial: usize,
        actors: &'static [(&'static str, Category)],
    ) -> Self {
        let fingerprint = Fingerprint::of(name, states, edges, initial);
        Self { name, docs, states, edges, initial, actors, fingerprint }
    }

    /// What people are shown of an actor that a journal names (OB-3).
    #[must_use]
    pub fn category(&self, kind: &str) -> Category {
        let declared = self.actors.iter().find(|(actor, _)| *actor == kind);
        declared.map_or_else(|| Category::of_kind(kind), |(_, category)| *category)
    }

    /// The index of the state that stored data call `name`.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|state| state.name == name)
    }

    /// The legal moves out of a state.
    pub fn leaving(&self, state: usize) -> impl Iterator<Item = &'static Edge> + use<> {
        self.edges.iter().filter(move |edge| edge.from == state)
    }

    /// The edge that `trigger` takes out of `state`, if there is one.
    #[must_use]
    pub fn edge(&self, state: usize, trigger: &str) -> Option<&'static Edge> {
        self.leaving(state).find(|edge| edge.trigger == trigger)
    }

    /// What can be done in a state, as a sentence: `from WAITING you can: resume -> RUNNING, ..`.
    #[must_use]
    pub fn legal_moves(&self, state: usize) -> impl fmt::Display + use<> {
        LegalMoves { definition: *self, state }
    }
}

struct LegalMoves {
    definition: Definition,
    state: usize,
}

impl fmt::Display for LegalMoves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { definition, state } = self;
        let label = definition.states[*state].label;
        if definition.states[*state].terminal {
            return write!(f, "{label} is terminal: nothing leaves it");
        }
        write!(f, "from {label} you can")?;
        for (position, edge) in definition.leaving(*state).enumerate() {
            let separator = if position == 0 { ": " } else { ", " };
            write!(f, "{separator}{} -> {}", edge.trigger, definition.states[edge.to].label)?;
        }
        Ok(())
    }
}
