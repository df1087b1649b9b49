use super::{Actor, Category};

/// Runs tools. Starts, ends and suspends executions.
#[derive(Debug)]
pub struct ToolNode;

/// Asks people (the human interaction node). Starts and suspends executions.
#[derive(Debug)]
pub struct EcsNode;

/// Drives the graph. Resumes, cancels, times out and ends executions.
#[derive(Debug)]
pub struct GraphRunner;

/// Decides what should happen. Creates contracts and reads; it advances none (EX-4).
#[derive(Debug)]
pub struct ReasoningNode;

/// For machines that do not say who: whoever moves them.
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
