// M0138

use machine::actor::Human;
use machine::contract::{CallError, Tool};
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
    #[on(place(charge) => Paying, by = Human)]
    #[on(look => Self, by = Human, detach)]
    Cart,

    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },

    #[terminal]
    Paid { receipt: String },

    #[terminal]
    Unpaid { why: CallError },
}

fn main() {
    let ann = Human::new("ann").unwrap();
    let paying = Order::new().place(Charge { cents: 250 }, &ann);
    assert_eq!(paying.state().charge.cents, 250);
}
