//! A move out of a state ends the calls of the state that have not begun: of any move, those that the table makes; of a
//! person's, also those that a handler made.

use std::borrow::Cow;

use crate::{
    actor::{Actor, Anyone, Category, Human},
    contract::execution::{self},
    definition::{Definition, Edge, StateDef},
    id::Id,
    journal::{Entry, Fact},
    stored::Durable,
};

/// A move to another state, or into the same one again, that a batch is about to write.
pub(crate) struct Left {
    pub(crate) machine: Id,
    /// The kind and the name of the actor.
    pub(crate) kind: &'static str,
    pub(crate) name: Option<Box<str>>,
    pub(crate) reason: String,
    /// The version before the move, and whether an earlier try of the batch may have written it.
    pub(crate) version: u64,
    pub(crate) is_retried: bool,
    /// A person made the move, which ends all calls that have not begun.
    pub(crate) by_person: bool,
    /// The version since which the machine was in a state that makes calls.
    pub(crate) since: Option<u64>,
    /// The calls that the move waits for, if they are under way.
    pub(crate) waits: Option<WaitsFor>,
}

/// The calls that a move waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// Those of the state that it leaves.
    State,
    /// All of the machine, because it ends.
    All,
}

impl WaitsFor {
    /// What moves wait for: whether the first one leaves a state with calls, whether the last one ends the machine, and
    /// whether they detach.
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
    /// The moves that are not written yet, as one; `None` if they leave no calls behind.
    pub(crate) fn of(machine: &dyn Durable) -> Option<Self> {
        let (definition, journal) = (machine.definition(), machine.journal());
        // An execution has no calls; its own rules say what its gate does.
        if journal.stored().version == 0 || definition.name == execution::DEFINITION.name {
            return None;
        }
        let moves = || {
            journal.uncommitted().iter().filter_map(|entry| match &entry.fact {
                Fact::Moved { from, to, trigger, stays: false, .. } => {
                    Some((entry, Step { definition, from, to, trigger }))
                }
                _ => None,
            })
        };
        let (_, first) = moves().next()?;
        let (newest, last) = moves().next_back()?;
        let by_person = |(entry, step): &(&Entry, Step<'_>)| {
            let kind = entry.actor.as_deref().unwrap_or_default();
            step.from != step.to && definition.category(kind) == Category::Human
        };
        // The audit names a person if there is one.
        let person = moves().rfind(by_person);
        let calls = definition.states.iter().any(|state| state.invocation.is_some());
        let invokes = calls && first.source().is_some_and(|state| state.invocation.is_some());
        let ends = calls && definition.states[machine.state_index()].terminal;
        if person.is_none() && !invokes && !ends {
            return None;
        }
        let (entry, named) = person.unwrap_or((newest, last));
        let (kind, who) = if person.is_some() {
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
            kind,
            name: entry.by.clone(),
            reason: format!(
                "{who} moved the {} to `{}` by `{}` before the call began",
                definition.name, named.to, named.trigger
            ),
            version: journal.stored().version,
            is_retried: journal.stored().commit_id.is_some(),
            by_person: person.is_some(),
            since: invokes.then(|| journal.stored().summary.entered + 1),
            waits: WaitsFor::of((invokes, first.detaches()), (ends, last.detaches())),
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

impl Step<'_> {
    fn source(&self) -> Option<&'static StateDef> {
        self.definition.states.iter().find(|state| state.name == self.from)
    }

    /// Returns whether the table lets it leave calls that are under way.
    fn detaches(&self) -> bool {
        let states = &self.definition.states;
        let is_this = |edge: &&Edge| {
            edge.trigger == self.trigger
                && states[edge.from].name == self.from
                && states[edge.to].name == self.to
        };
        self.definition.edges.iter().find(is_this).is_some_and(|edge| edge.detach)
    }
}
