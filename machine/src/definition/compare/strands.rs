//! Work in flight that a change strands: queued messages, and deadlines that are running.

use alloc::{collections::BTreeSet, format, string::String, vec, vec::Vec};

use crate::{
    actor::{Actor, Call},
    definition::{Definition, Edge, StateDef, Stays, Text},
};

pub(super) struct Pair<'a> {
    older: &'a Definition,
    pub(super) newer: &'a Definition,
    /// The state of the newer one for each state of the older one.
    successors: &'a [Option<usize>],
    /// The edges of the newer one by the state that they leave.
    leaving: Leaving<'a>,
}

/// The edges of a definition by the state that they leave, each with its position.
type Leaving<'a> = Vec<Vec<(usize, &'a Edge)>>;

fn leaving(definition: &Definition) -> Leaving<'_> {
    let mut leaving = vec![Vec::new(); definition.states.len()];
    for (index, edge) in definition.edges.iter().enumerate() {
        leaving[edge.from].push((index, edge));
    }
    leaving
}

/// The states that a machine in this one reaches, the nearest first, beginning with this one. It
/// enters only those that `enters` allows.
fn reached(leaving: &Leaving<'_>, from: usize, enters: impl Fn(usize) -> bool) -> Vec<usize> {
    let (mut reached, mut next) = (vec![from], 0);
    while let Some(state) = reached.get(next) {
        let ends: Vec<_> = leaving[*state].iter().map(|(_, edge)| edge.to).collect();
        for end in ends {
            if enters(end) && !reached.contains(&end) {
                reached.push(end);
            }
        }
        next += 1;
    }
    reached
}

/// The service and the method of the tool that a state calls.
fn tool_of(state: &StateDef) -> Option<(&Text, &Text)> {
    state.invocation.as_ref().map(|it| (&it.service, &it.method))
}

impl<'a> Pair<'a> {
    pub(super) fn new(
        older: &'a Definition,
        newer: &'a Definition,
        successors: &'a [Option<usize>],
    ) -> Self {
        Self { older, newer, successors, leaving: leaving(newer) }
    }

    /// The newer edges that the trigger of an older one takes, with their positions.
    pub(super) fn called(&self, old: &Edge) -> Vec<(usize, &'a Edge)> {
        let leaving = self.successors[old.from].map(|here| &self.leaving[here]);
        let leaving = leaving.into_iter().flatten().copied();
        leaving.filter(|(_, new)| new.is_called(&old.trigger)).collect()
    }

    /// Returns `true` if the running deadline of the older edge fires the newer one.
    pub(super) fn fires(&self, new: &Edge, old: &Edge) -> bool {
        old.deadline.as_ref().is_some_and(|deadline| {
            let group = deadline.group.map(|group| &*self.older.groups[group].name);
            self.newer.fires(new, &old.trigger, group)
        })
    }

    /// The work that waits for a move that the newer definition does not have, if any. That a state
    /// is now terminal strands it, too, and is reported once.
    pub(super) fn stranded_by_removal(&self, old: &Edge) -> Option<String> {
        let here = self.successors[old.from]?;
        let is_timed = old.deadline.is_some();
        if self.newer.states[here].terminal || !is_timed && self.lost(old).is_empty() {
            return None;
        }
        let what = if is_timed {
            "a running deadline fails, and is set aside"
        } else {
            "a queued message is never taken"
        };
        Some(format!(
            "{what}: write `was = \"{}\"` on the transition that replaces it, or keep it until none is left",
            old.trigger
        ))
    }

    /// The kinds of actors that may make the older move, and whose messages no state takes that a
    /// machine can still be in; `None` stands for any kind.
    pub(super) fn lost<'b>(&self, old: &'b Edge) -> Vec<Option<&'b Text>> {
        let Some(here) = self.successors[old.from] else { return Vec::new() };
        senders(old).filter(|kind| self.taker(here, &old.trigger, *kind).is_none()).collect()
    }

    /// The newer edge that takes what is queued for an older one whose state has none any more.
    pub(super) fn taken_later(&self, old: &Edge) -> Option<&'a Edge> {
        let here = self.successors[old.from]?;
        senders(old).find_map(|kind| self.taker(here, &old.trigger, kind))
    }

    /// The edge with which a state takes a message, or one that it leads to.
    fn taker(&self, from: usize, trigger: &str, kind: Option<&Text>) -> Option<&'a Edge> {
        let kind = kind.map(|kind| self.newer.current_kind(kind));
        let states = reached(&self.leaving, from, |_| true).into_iter();
        let mut edges = states.flat_map(|state| &self.leaving[state]).map(|(_, edge)| *edge);
        edges.find(|edge| {
            let is_for = kind.map_or(edge.actors.is_empty(), |kind| edge.is_for_kind(kind));
            is_for && edge.is_called(trigger)
        })
    }

    /// Returns `true` if an edge that detached, and does not any more, ends a machine which may
    /// have left an irreversible call behind.
    pub(super) fn waits_for_ever(&self, new: &Edge) -> bool {
        self.waits(new) && self.leaving_behind().next().is_some()
    }

    /// The older edges after which a machine may have an irreversible call that it left behind.
    fn leaving_behind(&self) -> impl Iterator<Item = &'a Edge> {
        let states = &self.older.states;
        self.older.edges.iter().filter(|edge| {
            let invocation = states[edge.from].invocation.as_ref();
            let is_irreversible = invocation.is_some_and(|it| it.irreversible);
            edge.detach && is_irreversible && !states[edge.to].terminal
        })
    }

    /// Returns `true` if a newer edge ends a machine and waits for what it has left behind. No edge
    /// of a definition without calls does.
    fn waits(&self, new: &Edge) -> bool {
        let states = &self.newer.states;
        !new.detach && states[new.to].terminal && states.iter().any(|it| it.invocation.is_some())
    }

    /// The newer states that a machine, which may have left an irreversible call behind, is in or
    /// comes to, from which it does not return any more to a state that calls the same tool and so
    /// takes the outcome, and reaches an end that waits for it; each with the state that it left.
    pub(super) fn without_return(&self) -> BTreeSet<(&'a Text, &'a Text)> {
        let (before, all) = (leaving(self.older), |_| true);
        let mut found = BTreeSet::new();
        for edge in self.leaving_behind() {
            let caller = &self.older.states[edge.from];
            let (tool, successor) = (tool_of(caller), self.successors[edge.from]);
            let took = |state: &usize| tool_of(&self.older.states[*state]) == tool;
            let takes = |state: &usize| {
                successor == Some(*state) || tool_of(&self.newer.states[*state]) == tool
            };
            let caller = successor.map_or(&caller.name, |state| &self.newer.states[state].name);
            let mut places = BTreeSet::new();
            for state in reached(&before, edge.to, all) {
                let Some(here) = self.successors[state] else { continue };
                if !takes(&here) && reached(&before, state, all).iter().any(took) {
                    places.extend(reached(&self.leaving, here, |state| !takes(&state)));
                }
            }
            for place in places {
                let now = reached(&self.leaving, place, all);
                let mut ways = now.iter().flat_map(|state| &self.leaving[*state]);
                if !now.iter().any(takes) && ways.any(|(_, new)| self.waits(new)) {
                    found.insert((&self.newer.states[place].name, caller));
                }
            }
        }
        found
    }

    /// The states that a machine left otherwise, and that now only deadlines leave which it has
    /// not, because they start when the state is entered.
    pub(super) fn left_by_new_deadlines(&self) -> Vec<&'a Text> {
        let mut found = Vec::new();
        for (before, here) in leaving(self.older).iter().zip(self.successors) {
            let Some(here) = *here else { continue };
            let is_exit = |edge: &Edge| edge.stays != Stays::Always;
            let is_new = |new: &Edge| !before.iter().any(|(_, old)| self.fires(new, old));
            let had_others = before.iter().any(|(_, old)| is_exit(old) && old.deadline.is_none());
            let mut exits = self.leaving[here].iter().filter(|(_, new)| is_exit(new)).peekable();
            if had_others
                && exits.peek().is_some()
                && exits.all(|(_, new)| new.deadline.is_some() && is_new(new))
            {
                found.push(&self.newer.states[here].name);
            }
        }
        found
    }
}

/// The kinds of actors whose messages an edge takes; `None` stands for any kind. What a state calls
/// is compared elsewhere.
fn senders(edge: &Edge) -> impl Iterator<Item = Option<&Text>> {
    let anyone = edge.actors.is_empty().then_some(None);
    let kinds = anyone.into_iter().chain(edge.actors.iter().map(Some));
    kinds.filter(|kind| kind.is_none_or(|kind| *kind != Call::KIND))
}
