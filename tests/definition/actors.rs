//! The actors that may take an edge (EX-4).

use machine::{
    actor::{Actor, Category, ReasoningNode},
    contract::execution::DEFINITION,
};
use machine_tests::actors::{ecs_node, graph_runner, reasoning_node, tool_node};

/// Only the tool node, the human interaction node and the graph runner advance a contract.
#[test]
fn every_edge_has_its_actors() {
    for edge in &*DEFINITION.edges {
        let from = &*DEFINITION.states[edge.from].name;
        let expected: &[&str] = match from {
            "pending" => &["tool_node", "ecs_node"],
            "running" => &["tool_node", "ecs_node", "graph_runner"],
            "waiting" => &["graph_runner"],
            other => panic!("{other} is terminal"),
        };
        assert_eq!(&*edge.actors, expected, "{from} {}", edge.trigger);
    }
}

/// The reasoning node creates contracts and reads. No edge is open to it, or to anyone.
#[test]
fn the_reasoner_is_on_no_edge() {
    for edge in &*DEFINITION.edges {
        assert!(!edge.actors.is_empty(), "{} is open to anyone", edge.trigger);
        assert!(!edge.is_for::<ReasoningNode>(), "{}", edge.trigger);
    }
}

/// The names in the journal, and what people are shown instead (OB-3).
#[test]
fn nodes_have_names_and_categories() {
    fn of<A: Actor>(_: &A) -> (&'static str, Category) {
        (A::KIND, A::CATEGORY)
    }
    assert_eq!(of(tool_node()), ("tool_node", Category::Tool));
    assert_eq!(of(ecs_node()), ("ecs_node", Category::System));
    assert_eq!(of(graph_runner()), ("graph_runner", Category::System));
    assert_eq!(of(reasoning_node()), ("reasoning", Category::Agent));
    for (kind, category) in
        [of(tool_node()), of(ecs_node()), of(graph_runner()), of(reasoning_node())]
    {
        assert_eq!(Category::of_kind(kind), category);
    }
}
