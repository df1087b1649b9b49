// Only the declaration grants a transition to an actor. Other code cannot.

use machine::actor::{Actor, Category};
use machine::contract::execution::{MayResume, Waiting};

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
}

impl MayResume<Waiting> for Impostor {}

fn main() {}
