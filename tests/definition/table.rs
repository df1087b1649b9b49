//! The table of the execution machine, row by row, its states and its actors.

use std::collections::BTreeSet;

use machine::{actor::ReasoningNode, contract::execution::DEFINITION};

/// From, trigger, to, and the actors. The reasoning node is not among them.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str]);

const TABLE: [Row; 9] = [
    ("pending", "start", "running", &["tool_node", "ecs_node"]),
    ("running", "succeed", "completed", &["tool_node", "ecs_node", "graph_runner"]),
    ("running", "fail", "failed", &["tool_node", "ecs_node", "graph_runner"]),
    ("running", "reject", "rejected", &["tool_node", "ecs_node", "graph_runner"]),
    ("running", "suspend", "waiting", &["tool_node", "ecs_node", "graph_runner"]),
    ("running", "cancel", "cancelled", &["tool_node", "ecs_node", "graph_runner"]),
    ("waiting", "resume", "running", &["graph_runner"]),
    ("waiting", "cancel", "cancelled", &["graph_runner"]),
    ("waiting", "timeout", "cancelled", &["graph_runner"]),
];

const STATES: [&str; 7] =
    ["pending", "running", "waiting", "completed", "failed", "rejected", "cancelled"];

/// These nine edges and no others. Two of them lead from WAITING to CANCELLED. That each pair of
/// state and trigger does so is tested in `stored::apply`.
#[test]
fn the_edges_are_those_of_the_table() {
    let name = |state: usize| &*DEFINITION.states[state].name;
    for (edge, (from, trigger, to, actors)) in DEFINITION.edges.iter().zip(TABLE) {
        assert_eq!((name(edge.from), &*edge.trigger, name(edge.to)), (from, trigger, to));
        assert_eq!(&*edge.actors, actors, "{from} {trigger}");
        assert!(!edge.is_for::<ReasoningNode>(), "{from} {trigger}");
    }
    let pairs: BTreeSet<_> = DEFINITION.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    assert_eq!((DEFINITION.edges.len(), pairs.len()), (9, 8));
}

/// The initial state, the stable ones, the terminal ones.
#[test]
fn the_states_are_those_of_the_specification() {
    let names: Vec<_> = DEFINITION.states.iter().map(|state| &*state.name).collect();
    assert_eq!(names, STATES);
    assert_eq!(DEFINITION.states[DEFINITION.initial].name, "pending");
    for state in &*DEFINITION.states {
        let terminal = ["completed", "failed", "rejected", "cancelled"].contains(&&*state.name);
        assert_eq!(state.terminal, terminal, "{}", state.name);
        assert_eq!(state.stable, state.name == "waiting", "{}", state.name);
        assert_eq!(state.label, state.name.to_uppercase());
        assert!(!state.docs.is_empty(), "{}", state.name);
    }
}

/// The payload of each trigger becomes the fields of its target. A deadline has no caller, and
/// computes them.
#[test]
fn payloads_are_fields_of_the_target() {
    for edge in &*DEFINITION.edges {
        let target = &DEFINITION.states[edge.to];
        let brought = if edge.deadline.is_some() { &[][..] } else { &*target.fields };
        assert_eq!(&*edge.payload, brought, "{}", edge.trigger);
    }
    let deadlines =
        DEFINITION.edges.iter().filter_map(|edge| Some((&*edge.trigger, edge.deadline.as_ref()?)));
    let deadlines: Vec<_> =
        deadlines.map(|(trigger, deadline)| (trigger, &*deadline.after)).collect();
    assert_eq!(deadlines, [("timeout", "context.answer_limit()")]);
    let fields = |state: &str| {
        let state = &DEFINITION.states[DEFINITION.state(state).unwrap()];
        state.fields.iter().map(|field| (&*field.name, &*field.ty)).collect::<Vec<_>>()
    };
    assert_eq!(fields("waiting"), [("prompt", "String")]);
    assert_eq!(fields("completed"), [("result", "String")]);
    assert_eq!(fields("running"), []);
}
