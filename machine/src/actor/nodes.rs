use super::{Actor, Category};

/// Runs tools. Starts, ends and suspends executions.
#[derive(Debug)]
pub struct ToolNode;

/// Asks people (human interaction). Starts, ends and suspends executions.
#[derive(Debug)]
pub struct EcsNode;

/// Drives the graph. Suspends, resumes, cancels, times out and ends executions.
#[derive(Debug)]
pub struct GraphRunner;

/// Decides what should happen. Creates contracts and reads state, but cannot advance an execution
/// (EX-4).
#[derive(Debug)]
pub struct ReasoningNode;

/// The actor for transitions without `by`, which any actor may take.
#[derive(Debug)]
pub struct Anyone;

impl Actor for ToolNode {
    const KIND: &'static str = "tool_node";
    const CATEGORY: Category = Category::Tool;
}

impl Actor for EcsNode {
    const KIND: &'static str = "ecs_node";
    const CATEGORY: Category = Category::System;
}

impl Actor for GraphRunner {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
}

impl Actor for ReasoningNode {
    const KIND: &'static str = "reasoning";
    const CATEGORY: Category = Category::Agent;
}

impl Actor for Anyone {
    const KIND: &'static str = "anyone";
    const CATEGORY: Category = Category::System;
}
