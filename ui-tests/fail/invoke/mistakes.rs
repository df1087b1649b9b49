// Invocations that do not fit their state. Machines are named after the mistakes.

use std::time::Duration;

use machine::actor::{GraphRunner, Human};
use machine::contract::{CallError, Tool};
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, receipt = String)]
struct Charge {
    cents: u32,
}

fn fits(_: &guarded::Paying, _: &String) -> Result<(), String> {
    Ok(())
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum EachOfOne {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    // M0134: a single call has no `each`.
    #[invoke(charge, each = paid)]
    #[on(paid(receipt) => Paid)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Guarded {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    #[invoke(charge, done = paid, failed = refused)]
    // M0132: an outcome has happened, so no guard refuses it.
    #[on(paid(receipt) => Paid, guard = fits -> String)]
    #[on(refused(why: CallError) => Cart)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Timed {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    // M0132: a deadline is not an outcome; `within` limits the waiting.
    #[on(refused(why: CallError) => Cart, after = Duration::from_secs(30))]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum InvokedTwice {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    #[invoke(charge)]
    // M0014: a state makes one call, or a set of calls of one tool.
    #[invoke(again: Charge = charge)]
    #[on(stop => Stopped, by = GraphRunner)]
    Paying { charge: Charge },
    #[terminal]
    Stopped,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum OptionTwice {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    // M0014: an option is given once.
    #[invoke(charge, approve, approve)]
    #[on(stop => Stopped, by = GraphRunner)]
    Paying { charge: Charge },
    #[terminal]
    Stopped,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum UnknownOption {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    // M0025: the options are listed in the message.
    #[invoke(charge, aprove)]
    #[on(stop => Stopped, by = GraphRunner)]
    Paying { charge: Charge },
    #[terminal]
    Stopped,
}

// M0138: only durable machines have something to detach from.
#[machine(on(stop => Stopped, from = Active, by = Human, detach))]
#[derive(Debug)]
enum DetachedGroup {
    #[initial]
    #[group(Active)]
    Cart,
    #[terminal]
    Stopped,
}

fn main() {}
