use core::fmt;

use super::{Audience, Cow, Fingerprint, Invocation, Mark, Move, Stays};
use crate::actor::{Actor, Category};

/// Text of a definition: in the program for one that `#[machine]` wrote, on the heap for one that
/// was read from a file.
pub type Text = Cow<'static, str>;

/// Rows of a definition; see [`Text`].
pub type Rows<T> = Cow<'static, [T]>;

/// A machine as plain data: its states, its edges, who may take them.
///
/// `#[machine]` writes one of these as `DEFINITION`. Resume checks, refusals, diagrams and views
/// all read it, so none of them can contradict the enum.
///
/// ```
/// use machine::contract::execution;
///
/// let waiting = execution::DEFINITION.state("waiting").unwrap();
/// let moves: Vec<_> = execution::DEFINITION.leaving(waiting).map(|edge| &edge.trigger).collect();
/// assert_eq!(moves, ["resume", "cancel", "timeout"]);
/// ```
///
/// With feature `serde` a definition can be written as JSON and read back. Two definitions are
/// equal when their content is, wherever they come from.
///
/// ```
/// use machine::contract::execution;
/// use machine::definition::Definition;
///
/// let text = serde_json::to_string(execution::DEFINITION)?;
/// let read: Definition = serde_json::from_str(&text)?;
/// assert_eq!(&read, execution::DEFINITION);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Definition {
    /// The machine's name in stored data: the enum's name in `snake_case`.
    pub name: Text,
    /// The doc comment of the enum.
    pub docs: Text,
    /// The version of the stored data, from `version = ..`; 1 by default.
    pub version: u32,
    /// The type of the context as declared; empty if there is none.
    pub context: Text,
    /// The audiences of the members of the context; the others are [`Audience::Internal`].
    pub marks: Rows<Mark>,
    /// The versions from which an upgrade function of the context leads one version further.
    pub upgrades: Rows<u32>,
    /// The states, in declaration order.
    pub states: Rows<StateDef>,
    /// The legal moves, in the order of the states that they leave. A choice has one edge for each
    /// of its targets, one after the other.
    pub edges: Rows<Edge>,
    /// Which state a new machine is in, as an index into `states`.
    pub initial: usize,
    /// The kinds of actor that some edge names.
    pub actors: Rows<ActorDef>,
    /// The groups of states, in the order in which they are first named.
    pub groups: Rows<GroupDef>,
    /// Changes when a name, an older name, a field, its audience, an edge, an actor, the context's
    /// type, the version, whether there is a deadline, whether a move [stays](Stays), or
    /// [which fields it computes](Edge::computed) changes, or the tool, the form or a trigger of an
    /// invocation. Docs, guards, conditions and durations do not count: what stored data mean does
    /// not depend on them.
    #[cfg_attr(feature = "durable", serde(skip))]
    pub fingerprint: Fingerprint,
}

/// One state of a [`Definition`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StateDef {
    /// The name in stored data, such as `waiting`.
    pub name: Text,
    /// The name in messages, such as `WAITING`.
    pub label: Text,
    /// The doc comment of the variant.
    #[cfg_attr(feature = "durable", serde(default))]
    pub docs: Text,
    /// May last forever: a process can end here.
    #[cfg_attr(feature = "durable", serde(default))]
    pub stable: bool,
    /// Is never left.
    #[cfg_attr(feature = "durable", serde(default))]
    pub terminal: bool,
    /// The state's data.
    #[cfg_attr(feature = "durable", serde(default))]
    pub fields: Rows<Field>,
    /// The names in stored data that this state had before.
    #[cfg_attr(feature = "durable", serde(default))]
    pub was: Rows<Text>,
    /// The versions from which an upgrade function leads one version further.
    #[cfg_attr(feature = "durable", serde(default))]
    pub upgrades: Rows<u32>,
    /// The calls that it makes when it is entered.
    #[cfg_attr(feature = "durable", serde(default, skip_serializing_if = "Option::is_none"))]
    pub invocation: Option<Invocation>,
}

/// A field of a state, or an item of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Field {
    /// The name as declared.
    pub name: Text,
    /// The type as declared.
    pub ty: Text,
    /// Data without this field can be read: it is an `Option`, or has a serde default.
    #[cfg_attr(feature = "durable", serde(default))]
    pub optional: bool,
    /// The names that it had before.
    #[cfg_attr(feature = "durable", serde(default))]
    pub was: Rows<Text>,
    /// The audience that may see it, from `#[audience(..)]`.
    #[cfg_attr(feature = "durable", serde(default))]
    pub audience: Audience,
}

/// One way that a legal move of a [`Definition`] can go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Edge {
    /// The source, as an index into [`Definition::states`].
    pub from: usize,
    /// The trigger's name, such as `resume`.
    pub trigger: Text,
    /// The target, as an index into [`Definition::states`].
    pub to: usize,
    /// The doc comment of the transition.
    #[cfg_attr(feature = "durable", serde(default, skip_serializing_if = "str::is_empty"))]
    pub docs: Text,
    /// The payload that the caller brings.
    #[cfg_attr(feature = "durable", serde(default))]
    pub payload: Rows<Field>,
    /// The kinds of actor that may take this edge; empty means anyone.
    #[cfg_attr(feature = "durable", serde(default))]
    pub actors: Rows<Text>,
    /// The function that may still refuse it, as declared.
    #[cfg_attr(feature = "durable", serde(default))]
    pub guard: Option<Text>,
    /// For an edge of a choice, when the move goes this way, as declared: `failures < 3`.
    #[cfg_attr(feature = "durable", serde(default))]
    pub when: Option<Text>,
    /// The deadline that fires it.
    #[cfg_attr(feature = "durable", serde(default))]
    pub deadline: Option<DeadlineDef>,
    /// The fields of the target whose stored values only the program knows: an expression sets
    /// them, or a serde attribute decides how they are stored. The payload sets any other field
    /// that it has an item for, and the rest have the values that they had in the source.
    #[cfg_attr(feature = "durable", serde(default))]
    pub computed: Rows<Text>,
    /// Whether it stays in its state, as `=> Self` does.
    #[cfg_attr(feature = "durable", serde(default, skip_serializing_if = "Stays::is_never"))]
    pub stays: Stays,
    /// It leaves what the state has open as it is. Without it, a move out of the state waits for
    /// irreversible calls of its invocation that have begun, and ends the visit: see the guide of
    /// the macro.
    #[cfg_attr(feature = "durable", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub detach: bool,
    /// The names that the trigger had before.
    #[cfg_attr(feature = "durable", serde(default))]
    pub was: Rows<Text>,
}

/// The deadline of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct DeadlineDef {
    /// The time after entering or, for one that is [absolute](Self::absolute), the point in time,
    /// as declared: `context.limit`.
    pub after: Text,
    /// It is a point in time, from `at = ..`.
    #[cfg_attr(feature = "durable", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub absolute: bool,
    /// The group whose entering starts it, as an index into [`Definition::groups`]; without one it
    /// is the state's own.
    #[cfg_attr(feature = "durable", serde(default))]
    pub group: Option<usize>,
}

/// A kind of actor of a [`Definition`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ActorDef {
    /// The name in the journal, such as `tool_node`.
    pub kind: Text,
    /// The category that people are shown instead.
    pub category: Category,
    /// The name in the journal that it had before.
    #[cfg_attr(feature = "durable", serde(default))]
    pub was: Option<Text>,
}

/// A group of states of a [`Definition`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct GroupDef {
    /// The name as declared.
    pub name: Text,
    /// Its states, as indices into [`Definition::states`].
    pub states: Rows<usize>,
}

impl Edge {
    /// Returns `true` if this kind of actor may take this edge.
    #[must_use]
    pub fn is_for<A: Actor>(&self) -> bool {
        crate::actor::is_genuine::<A>() && self.is_for_kind(A::KIND)
    }

    /// Like [`is_for`](Self::is_for), for an actor that is known by the name in the journal.
    pub(crate) fn is_for_kind(&self, kind: &str) -> bool {
        self.actors.is_empty() || self.actors.iter().any(|actor| actor == kind)
    }

    /// Returns `true` if its trigger has this name, or had it before.
    pub(crate) fn is_called(&self, trigger: &str) -> bool {
        self.trigger == trigger || self.was.iter().any(|was| was == trigger)
    }

    /// The label of the edge in a drawing: `retry`, `retry [failures < 3]` for one of a choice,
    /// `note / stays` for one that stays in its state, and `pause / detach` for one that leaves
    /// calls under way.
    #[must_use]
    pub fn label(&self) -> impl fmt::Display + use<'_> {
        fmt::from_fn(move |f| {
            f.write_str(&self.trigger)?;
            if let Some(when) = &self.when {
                write!(f, " [{when}]")?;
            }
            if let Some(words) = self.stays.words() {
                write!(f, " / {words}")?;
            }
            if self.detach { f.write_str(" / detach") } else { Ok(()) }
        })
    }
}

impl Definition {
    /// The category that people are shown for an actor that a journal names.
    #[must_use]
    pub fn category(&self, kind: &str) -> Category {
        let declared = self.actors.iter().find(|actor| actor.kind == kind);
        declared.map_or_else(|| Category::of_kind(kind), |actor| actor.category)
    }

    /// The name that a kind of actor has in this definition, if it was renamed.
    #[cfg(feature = "alloc")]
    pub(crate) fn current_kind<'a>(&'a self, kind: &'a str) -> &'a str {
        let is_known = self.actors.iter().any(|actor| actor.kind == kind);
        let mut actors = self.actors.iter().filter(|_| !is_known);
        let renamed = actors.find(|actor| actor.was.as_deref() == Some(kind));
        renamed.map_or(kind, |actor| actor.kind.as_ref())
    }

    /// The index of the state that stored data call `name`.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|state| state.name == name)
    }

    /// The edges out of a state.
    pub fn leaving(&self, state: usize) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == state)
    }

    /// The edges of a trigger, also by the names that it had before.
    pub(crate) fn edges_of(&self, trigger: &str) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.is_called(trigger))
    }

    /// The legal moves out of a state. A choice is one move with several edges.
    ///
    /// ```
    /// use machine::contract::execution;
    ///
    /// let pending = execution::DEFINITION.initial;
    /// let moves: Vec<_> = execution::DEFINITION.moves(pending).map(|m| m.to_string()).collect();
    /// assert_eq!(moves, ["start -> RUNNING"]);
    /// ```
    pub fn moves(&self, state: usize) -> impl Iterator<Item = Move<'_>> {
        let same = |a: &Edge, b: &Edge| a.from == b.from && a.trigger == b.trigger;
        let moves = self.edges.chunk_by(same).filter(move |edges| edges[0].from == state);
        moves.map(|edges| Move::new(self, edges))
    }

    /// The move that `trigger` makes out of `state`, if there is one.
    #[must_use]
    pub fn find_move(&self, state: usize, trigger: &str) -> Option<Move<'_>> {
        self.moves(state).find(|found| found.trigger() == trigger)
    }

    /// The edge that `trigger` takes from one state to another, if there is one.
    #[must_use]
    pub fn edge(&self, from: usize, trigger: &str, to: usize) -> Option<&Edge> {
        self.leaving(from).find(|edge| edge.trigger == trigger && edge.to == to)
    }

    /// The machine's name. The program's own definition is a constant, so its name is borrowed.
    #[cfg(feature = "durable")]
    pub(crate) fn name(&'static self) -> &'static str {
        &self.name
    }

    /// The position of that edge among all edges.
    #[cfg(feature = "durable")]
    pub(crate) fn edge_index(&self, from: usize, trigger: &str, to: usize) -> Option<usize> {
        self.edges
            .iter()
            .position(|edge| edge.from == from && edge.to == to && edge.trigger == trigger)
    }

    /// The legal moves from a state, as a sentence: `from WAITING you can: resume -> RUNNING, ..`.
    #[must_use]
    pub fn legal_moves(&self, state: usize) -> impl fmt::Display + use<'_> {
        fmt::from_fn(move |f| {
            let label = &self.states[state].label;
            if self.states[state].terminal {
                return write!(f, "{label} is terminal: nothing leaves it");
            }
            write!(f, "from {label} you can")?;
            for (position, legal) in self.moves(state).enumerate() {
                let separator = if position == 0 { ": " } else { ", " };
                write!(f, "{separator}{legal}")?;
            }
            Ok(())
        })
    }
}
