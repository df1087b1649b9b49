// The `KIND` of an actor of the library does not make one.

use machine::actor::{Actor, Category};
use machine::machine;

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
}

#[machine]
enum Turn {
    #[initial]
    #[on(resume => Resumed, by = Impostor)]
    Parked,

    #[terminal]
    Resumed,
}

fn main() {
    let _resumed = Turn::new().resume(&Impostor);
}
