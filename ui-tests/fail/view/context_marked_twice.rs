// A member of the context has two marks.

use machine::{definition::Mark, machine, stored::Context};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Customer {
    name: String,
}

impl Context for Customer {
    type Summary = ();
    const MARKS: &'static [Mark] = &[Mark::human("name"), Mark::diagnostic("name")];
}

#[machine(durable, context = Customer)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(Customer { name: "Ann".to_owned() }).ship();
}
