// EX-4: only the table says who may. Nobody can let an actor of their own in.

use machine::actor::{Actor, Category};
use machine::contract::execution::{MayResume, Waiting};

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
}

impl MayResume<Waiting> for Impostor {}

fn main() {}
