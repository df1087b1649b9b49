// Actors come from `Actors::issue`, and grants from declarations. Items are named after the mistakes.

use machine::actor::{Actor, Actors, Category, GraphRunner, Library, ReasoningNode};
use machine::contract::execution::{MayResume, Waiting};

struct CopyTheMark;

impl Actor for CopyTheMark {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
    // Copying the mark of the library's actors does not make a type one of them.
    const __LIBRARY: Option<Library<Self>> = <GraphRunner as Actor>::__LIBRARY;
}

struct GrantOneself;

impl Actor for GrantOneself {
    const KIND: &'static str = "grant_oneself";
    const CATEGORY: Category = Category::System;
}

// Only the declaration grants a transition to an actor. Other code cannot.
impl MayResume<Waiting> for GrantOneself {}

// The actors of the library come from `Actors::issue`.
fn make_a_graph_runner() -> GraphRunner {
    GraphRunner
}

// An actor is a capability: it is lent, not copied.
fn clone_an_actor(actors: &Actors) {
    let _mine = actors.graph_runner.clone();
}

// Code that holds a reasoning node cannot get a graph runner.
fn reasoner_makes_a_graph_runner(reasoner: &ReasoningNode) -> &GraphRunner {
    reasoner.into()
}

fn main() {}
