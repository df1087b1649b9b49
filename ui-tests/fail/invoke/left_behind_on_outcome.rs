// M0212 on the outcome of another call: PAYING is entered again only if that one is refused

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
    Open,

    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Open)]
    #[on(skip(charge) => Second, by = Human, detach)]
    Paying { charge: Charge },

    #[invoke(charge, done = paid_second, failed = refused_second)]
    #[on(paid_second(receipt) => Paid)]
    #[on(refused_second(why: CallError) => Open)]
    Second { charge: Charge },

    #[terminal]
    Paid { receipt: String },
}

fn main() {
    let ann = Human::new("ann").unwrap();
    let paying = Order::new().place(Charge { cents: 250 }, &ann);
    assert_eq!(paying.state().charge.cents, 250);
}
