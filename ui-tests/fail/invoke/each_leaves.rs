// M0211

use machine::actor::Human;
use machine::contract::{Outcome, Tool};
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, receipt = String)]
struct Charge {
    cents: u32,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(place(parts) => Paying, by = Human)]
    Cart,

    #[invoke(parts: [Charge], each = part, done = all)]
    #[on(part(outcome: Outcome<Charge>, index: usize) => if outcome.is_ok() { Self } else { Unpaid })]
    #[on(all(outcomes) => Paid)]
    Paying { parts: Vec<Charge> },

    #[terminal]
    Paid { outcomes: Vec<Outcome<Charge>> },

    #[terminal]
    Unpaid,
}

fn main() {
    let ann = Human::new("ann").unwrap();
    let paying = Order::new().place(vec![Charge { cents: 250 }], &ann);
    assert_eq!(paying.state().parts.len(), 1);
}
