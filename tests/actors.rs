//! The actors of the tests.

use std::sync::LazyLock;

use machine::actor::{Actors, EcsNode, GraphRunner, Human, ReasoningNode, ToolNode};

static ACTORS: LazyLock<Actors> = LazyLock::new(|| Actors::issue("test").unwrap());

static ANN: LazyLock<Human> = LazyLock::new(|| Human::new("ann").unwrap());

/// The tool node `test`.
#[must_use]
pub fn tool_node() -> &'static ToolNode {
    &ACTORS.tool_node
}

/// The ECS node `test`.
#[must_use]
pub fn ecs_node() -> &'static EcsNode {
    &ACTORS.ecs_node
}

/// The graph runner `test`.
#[must_use]
pub fn graph_runner() -> &'static GraphRunner {
    &ACTORS.graph_runner
}

/// The reasoning node `test`.
#[must_use]
pub fn reasoning_node() -> &'static ReasoningNode {
    &ACTORS.reasoning_node
}

/// The person `ann`.
#[must_use]
pub fn ann() -> &'static Human {
    &ANN
}
