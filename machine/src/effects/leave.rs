//! A move out of a state ends the visit: its calls that have not begun end with their gates, and
//! its child machines are asked to cancel. A move with `detach` leaves child machines as they are.

use std::{borrow::Cow, sync::Arc};

use crate::{
    actor::{Actor, Anyone, Category, Human},
    contract::execution,
    definition::{Definition, Edge},
    id::Id,
    journal::Fact,
    stored::Durable,
};

/// A move to another state, or into the same one again, that a batch is about to write.
pub(crate) struct Left {
    pub(crate) machine: Id,
    pub(crate) definition: &'static str,
    pub(crate) trigger: String,
    pub(crate) kind: &'static str,
    pub(crate) name: Option<Box<str>>,
    pub(crate) reason: String,
    /// The version before the move, and whether an earlier try of the batch may have written it.
    pub(crate) version: u64,
    pub(crate) is_retried: bool,
    /// The version since which children are of what ends. `None` if the move detaches them.
    pub(crate) visit: Option<u64>,
    /// The version since which the machine was in a state that makes calls.
    pub(crate) since: Option<u64>,
    /// The calls that the move waits for, if they are under way.
    pub(crate) waits: Option<WaitsFor>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// Those of the state that it leaves.
    State,
    /// All of the machine, because it ends.
    All,
}

impl WaitsFor {
    /// What moves wait for: whether the first one leaves a state with calls, whether the last one
    /// ends the machine, and whether they detach.
    fn of((invokes, detaches): (bool, bool), (ends, ends_detached): (bool, bool)) -> Option<Self> {
        if ends && !ends_detached {
            return Some(Self::All);
        }
        (invokes && !detaches).then_some(Self::State)
    }

    /// What a move of this edge waits for. A state that is entered again joins its calls.
    pub(crate) fn of_edge(definition: &Definition, edge: &Edge) -> Option<Self> {
        let states = &definition.states;
        let calls = states.iter().any(|state| state.invocation.is_some());
        let invokes = states[edge.from].invocation.is_some();
        let ends = calls && states[edge.to].terminal;
        Self::of((invokes, edge.detach), (ends, edge.detach)).filter(|_| edge.from != edge.to)
    }
}

impl Left {
    /// The moves that are not written yet, as one; `None` if they leave nothing. Only the first one
    /// leaves a visit that is stored. The state may have made its calls by another version of the
    /// table: `known` are those that were read.
    pub(crate) fn of(machine: &dyn Durable, known: &[Arc<Definition>]) -> Option<Self> {
        let (definition, journal) = (machine.definition(), machine.journal());
        // An execution has no calls; its own rules say what its gate does.
        if journal.stored().version == 0 || definition.name == execution::DEFINITION.name {
            return None;
        }
        let mut moves = journal.uncommitted().iter().filter_map(|entry| match &entry.fact {
            Fact::Moved { from, to, trigger, stays: false, .. } => {
                Some((entry, Step { definition, from, to, trigger }))
            }
            _ => None,
        });
        let (entry, first) = moves.next()?;
        let last = moves.next_back().map_or(first, |(_, last)| last);
        let stored = journal.stored();
        let calls = definition.states.iter().any(|state| state.invocation.is_some());
        let invokes = calls && invokes(definition, first.from)
            || known.iter().any(|other| first.leaves_calls_of(other));
        let ends = definition.states[machine.state_index()].terminal;
        let entered = stored.summary.entered + 1;
        let visit = match (first.detaches(), ends) {
            (false, _) => Some(entered),
            // What comes with the end belongs to it.
            (true, true) => Some(stored.version + 1),
            (true, false) => None,
        };
        if visit.is_none() && !invokes {
            return None;
        }
        let actor = entry.actor.as_deref().unwrap_or_default();
        let (kind, who) = if definition.category(actor) == Category::Human {
            (Human::KIND, "a person")
        } else {
            // Entries of this program borrow their kinds.
            let kind = match entry.actor {
                Some(Cow::Borrowed(kind)) => kind,
                _ => Anyone::KIND,
            };
            (kind, kind)
        };
        Some(Self {
            machine: journal.id(),
            definition: definition.name.as_ref(),
            trigger: first.trigger.to_owned(),
            kind,
            name: entry.by.clone(),
            reason: format!(
                "{who} moved the {} to `{}` by `{}` before the call began",
                definition.name, first.to, first.trigger
            ),
            version: stored.version,
            is_retried: stored.commit_id.is_some(),
            visit,
            since: invokes.then_some(entered),
            waits: WaitsFor::of(
                (invokes, first.detaches()),
                ((calls || invokes) && ends, last.detaches()),
            ),
        })
    }
}

/// A move, as its entry names it.
#[derive(Clone, Copy)]
struct Step<'a> {
    definition: &'static Definition,
    from: &'a str,
    to: &'a str,
    trigger: &'a str,
}

/// Returns whether a state makes calls.
pub(super) fn invokes(definition: &Definition, state: &str) -> bool {
    definition.states.iter().any(|it| it.name == state && it.invocation.is_some())
}

impl Step<'_> {
    /// Returns whether its state makes calls by this version of the table.
    fn leaves_calls_of(&self, other: &Definition) -> bool {
        let Self { definition, from, .. } = *self;
        let is_source = |state: usize| other.successor(state, definition) == definition.state(from);
        let mut states = other.states.iter().enumerate();
        other.name == definition.name
            && states.any(|(index, state)| state.invocation.is_some() && is_source(index))
    }

    /// Returns whether the table lets it leave calls that are under way.
    fn detaches(&self) -> bool {
        let Self { definition, from, to, trigger } = *self;
        let ends = definition.state(from).zip(definition.state(to));
        let edge = ends.and_then(|(from, to)| definition.edge(from, trigger, to));
        edge.is_some_and(|edge| edge.detach)
    }
}
