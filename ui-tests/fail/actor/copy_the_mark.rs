// Copying the mark of the library's actors does not make a type one of them.

use machine::actor::{Actor, Category, GraphRunner, Library};

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
    const __LIBRARY: Option<Library<Self>> = <GraphRunner as Actor>::__LIBRARY;
}

fn main() {}
