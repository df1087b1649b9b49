// Mistakes that the compiler finds when it evaluates the definition. States and types are named after them.

use machine::actor::{Actor, Category};
use machine::{definition::Mark, machine, stored::Context};
use serde::{Deserialize, Serialize};

struct ReservedKind;

impl Actor for ReservedKind {
    const KIND: &'static str = "graph_runner";
    const CATEGORY: Category = Category::System;
}

#[machine]
enum Turn {
    #[initial]
    // The `KIND` of an actor of the library does not make one.
    #[on(resume => Resumed, by = ReservedKind)]
    Parked,

    #[terminal]
    Resumed,
}

#[derive(Debug, Serialize, Deserialize)]
struct MarkedTwice {
    name: String,
}

impl Context for MarkedTwice {
    type Summary = ();
    const MARKS: &'static [Mark] = &[Mark::human("name"), Mark::diagnostic("name")];
}

// A member of the context has two marks.
#[machine(durable, context = MarkedTwice)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,
}

fn main() {
    let _resumed = Turn::new().resume(&ReservedKind);
    let _shipped = Order::new(MarkedTwice { name: "Ann".to_owned() }).ship();
}
