// Only a call has an outcome. Functions are named after the mistakes.

use machine::actor::{Call, GraphRunner, Human};
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
    Cart,

    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => Cart)]
    Paying { charge: Charge },

    #[terminal]
    Paid { receipt: String },
}

// A cart is paid by a call, which it has to make first.
fn paid_without_a_call(cart: Order<order::Cart>, by: &Human) {
    let _ = cart.paid("forged".to_owned(), by);
}

// The receipt comes with the outcome of the call; the program does not supply one.
fn receipt_of_a_runner(paying: Order<order::Paying>, by: &GraphRunner) -> Order<order::Paid> {
    paying.paid("forged".to_owned(), by)
}

// A person does not supply one either.
fn receipt_of_a_person(paying: Order<order::Paying>, by: &Human) -> Order<order::Paid> {
    paying.paid("forged".to_owned(), by)
}

// The actor of an outcome is not made by a program.
fn call_made_by_hand() -> Call {
    Call(None)
}

fn main() {}
