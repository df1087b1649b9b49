// What the effect of a tool requires of a call. Machines are named after the mistakes.

use std::time::Duration;

use machine::actor::{GraphRunner, Human};
use machine::contract::{Action, CallError, Tool};
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, receipt = String)]
struct Charge {
    cents: u32,
}

fn is_dear(charge: &Charge) -> bool {
    charge.cents > 10_000
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum BeginsThere {
    #[initial]
    // M0208: the machine begins in the state.
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Again {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    // M0208: a person saw the first payment, and not the second.
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Unpaid)]
    Paying { charge: Charge },
    #[on(retry => Paying, by = GraphRunner)]
    Unpaid { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Reentered {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    // M0208: the state is entered again without a person.
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Paying)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum ByDeadline {
    #[initial]
    #[on(place => Paying, by = Human, after = Duration::from_secs(30))]
    Cart { charge: Charge },
    // M0208: a deadline makes its move without the person.
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Cart)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum SometimesAsked {
    #[initial]
    #[on(place(charge) => Paying, by = Human | GraphRunner)]
    Cart,
    // M0208: a function decides whether a person is asked.
    #[invoke(charge, approve = is_dear, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Cart)]
    Paying { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum ToolOfTheRunTime {
    #[initial]
    #[on(run(actions) => Running, by = GraphRunner)]
    Idle,
    // M0208: the effect of a tool that is known at run time only counts as irreversible.
    #[invoke(actions: [Action])]
    #[on(stop => Stopped, by = GraphRunner)]
    Running { actions: Vec<Action> },
    #[terminal]
    Stopped,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum LeftBehind {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Open,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Open)]
    #[on(skip(charge) => Second, by = Human, detach)]
    Paying { charge: Charge },
    #[invoke(charge, done = paid_second, failed = refused_second)]
    // M0212: the outcome of another call; only if it is refused, PAYING is entered again.
    #[on(paid_second(receipt) => Paid)]
    #[on(refused_second(why: CallError) => Open)]
    Second { charge: Charge },
    #[terminal]
    Paid { receipt: String },
}

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.quote, idempotent, receipt = String)]
struct Quote {
    cents: u32,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum WithoutNeed {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    Cart,
    // M0141: the tool is idempotent, so its call needs no person.
    #[invoke(charge, unattended, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Quote },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
}

fn main() {}
