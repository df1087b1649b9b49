// EX-4: the mark of an actor of the library makes no other type one.

use machine::actor::{Actor, Category, GraphRunner, Library};

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
    const __LIBRARY: Option<Library<Self>> = <GraphRunner as Actor>::__LIBRARY;
}

fn main() {}
