use std::collections::BTreeSet;

use serde::Serialize;

use super::View;
use crate::definition::{ApprovalDef, Definition, Edge, Invocation, Stays, Text};

/// The states and moves of a kind of machine.
///
/// ```
/// use machine::contract::execution;
/// use machine::view::Topology;
///
/// let topology = Topology::of(execution::DEFINITION);
/// assert_eq!(topology.initial_status, "pending");
/// assert_eq!(topology.resumable_statuses, ["waiting"]);
/// assert!(topology.problems.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Topology {
    /// The kind of the machine, such as `execution`.
    pub machine: String,
    /// The states, in declaration order.
    pub nodes: Vec<TopologyNode>,
    /// The legal moves; a choice has one edge for each of its targets.
    pub edges: Vec<TopologyEdge>,
    /// The pairs of states without a move from the first to the second.
    pub forbidden_transitions: Vec<ForbiddenTransition>,
    /// The terminal states.
    pub terminal_statuses: Vec<String>,
    /// The states that wait, and can be left.
    pub resumable_statuses: Vec<String>,
    /// The initial state.
    pub initial_status: String,
    /// The result of the health check: states that cannot be reached, and states that are neither
    /// terminal nor left nor may last.
    pub problems: Vec<String>,
}

/// A state of a [`Topology`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct TopologyNode {
    /// The state's name, such as `waiting`.
    pub status: String,
    /// The state's name in messages, such as `WAITING`.
    pub label: String,
    /// It is never left.
    pub is_terminal: bool,
    /// New machines are in it.
    pub is_initial: bool,
    /// It may last: it is terminal, or waits.
    pub is_stable: bool,
    /// It waits, and can be left.
    pub is_resumable: bool,
    /// The calls that it makes when it is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<TopologyCalls>,
}

/// The call, or the set of calls, that a state makes when it is entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct TopologyCalls {
    /// The name that people read, such as `payment`.
    pub name: String,
    /// What drawings show: `payment: Charge, approve`.
    pub label: String,
    /// The tool, such as `bank.charge`; `None` if it is known at run time only.
    pub tool: Option<String>,
    /// Its effect cannot be undone.
    pub irreversible: bool,
    /// It makes several calls.
    pub is_set: bool,
    /// Which of its calls a person has to approve: `always`, `never`, or the function that says it.
    pub approval: String,
    /// An irreversible call needs no person on the way to it.
    pub unattended: bool,
    /// The time for an approval, as declared.
    pub expires: Option<String>,
    /// The time that the machine waits for a call, as declared.
    pub within: Option<String>,
    /// The trigger that takes the receipt or, of a set, all outcomes.
    pub done: Option<String>,
    /// The trigger that takes the error of a call without a receipt.
    pub failed: Option<String>,
    /// The trigger that takes one outcome of a set.
    pub each: Option<String>,
}

impl TopologyCalls {
    fn of(invocation: &Invocation) -> Self {
        let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        Self {
            name: invocation.name.to_string(),
            label: invocation.label().to_string(),
            tool: invocation.tool_name(),
            irreversible: invocation.irreversible,
            is_set: invocation.set,
            approval: match &invocation.approval {
                ApprovalDef::Never => "never".to_owned(),
                ApprovalDef::Always => "always".to_owned(),
                ApprovalDef::When(function) => function.to_string(),
            },
            unattended: invocation.unattended,
            expires: text(&invocation.expires),
            within: text(&invocation.within),
            done: text(&invocation.done),
            failed: text(&invocation.failed),
            each: text(&invocation.each),
        }
    }
}

/// A move of a [`Topology`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct TopologyEdge {
    /// The source state.
    pub from_status: String,
    /// The target state.
    pub to_status: String,
    /// The trigger.
    pub trigger: String,
    /// The doc comment of the transition.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub docs: String,
    /// The kinds of actor that may make it; empty means anyone.
    pub allowed_actors: Vec<String>,
    /// For an edge of a choice, when the move goes this way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Whether it stays in its state: it begins no visit, and starts no deadline again.
    #[serde(skip_serializing_if = "Stays::is_never")]
    pub stays: Stays,
    /// For a deadline, the time after entering the state or its group, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// For a deadline at a point in time, that point, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// It leaves the calls of its state under way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub detaches: bool,
}

/// A pair of states without a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct ForbiddenTransition {
    /// The source state.
    pub from_status: String,
    /// The target state.
    pub to_status: String,
    /// Why there is none.
    pub reason: String,
}

impl Topology {
    /// The topology of a definition.
    #[must_use]
    pub fn of(definition: &Definition) -> View<Self> {
        let states = || definition.states.iter();
        let name = |index: usize| definition.states[index].name.to_string();
        let nodes = states().enumerate().map(|(index, state)| TopologyNode {
            status: state.name.to_string(),
            label: state.label.to_string(),
            is_terminal: state.terminal,
            is_initial: index == definition.initial,
            is_stable: state.stable || state.terminal,
            is_resumable: state.stable && !state.terminal,
            calls: state.invocation.as_ref().map(TopologyCalls::of),
        });
        let due = |edge: &Edge, absolute: bool| {
            let deadline = edge.deadline.as_ref().filter(|it| it.absolute == absolute)?;
            Some(deadline.after.to_string())
        };
        let edges = definition.edges.iter().map(|edge| TopologyEdge {
            from_status: name(edge.from),
            to_status: name(edge.to),
            trigger: edge.trigger.to_string(),
            docs: edge.docs.to_string(),
            allowed_actors: edge.actors.iter().map(ToString::to_string).collect(),
            when: edge.when.as_deref().map(str::to_owned),
            stays: edge.stays,
            after: due(edge, false),
            at: due(edge, true),
            detaches: edge.detach,
        });
        let waits = states().filter(|state| state.stable && !state.terminal);
        View::new(Self {
            machine: definition.name.to_string(),
            nodes: nodes.collect(),
            edges: edges.collect(),
            forbidden_transitions: forbidden(definition),
            terminal_statuses: states()
                .filter(|state| state.terminal)
                .map(|state| state.name.to_string())
                .collect(),
            resumable_statuses: waits.map(|state| state.name.to_string()).collect(),
            initial_status: name(definition.initial),
            problems: problems(definition),
        })
    }
}

fn forbidden(definition: &Definition) -> Vec<ForbiddenTransition> {
    let legal: BTreeSet<(usize, usize)> =
        definition.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let mut forbidden = Vec::new();
    for (from, source) in definition.states.iter().enumerate() {
        let reason = definition.legal_moves(from).to_string();
        for (to, target) in definition.states.iter().enumerate() {
            if !legal.contains(&(from, to)) {
                forbidden.push(ForbiddenTransition {
                    from_status: source.name.to_string(),
                    to_status: target.name.to_string(),
                    reason: reason.clone(),
                });
            }
        }
    }
    forbidden
}

/// `#[machine]` refuses to compile what is wrong here; a definition from a file may have it.
fn problems(definition: &Definition) -> Vec<String> {
    let mut reached = BTreeSet::from([definition.initial]);
    let mut open = vec![definition.initial];
    while let Some(state) = open.pop() {
        let targets = definition.leaving(state).map(|edge| edge.to);
        open.extend(targets.filter(|target| reached.insert(*target)));
    }
    let mut problems = Vec::new();
    for (index, state) in definition.states.iter().enumerate() {
        if !reached.contains(&index) {
            problems.push(format!("no path leads to {}", state.label));
        }
        let is_left = definition.leaving(index).next().is_some();
        if !state.terminal && !state.stable && !is_left {
            problems.push(format!("{} is not terminal, and nothing leaves it", state.label));
        }
    }
    problems
}
