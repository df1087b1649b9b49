// Uses of a choice and its outcome. Functions are named after the mistakes.

use machine::actor::{Actor, Category, ToolNode};
use machine::machine;
use order::{AfterRetry, AfterShip};

struct User;

impl Actor for User {
    const KIND: &'static str = "user";
    const CATEGORY: Category = Category::Human;
}

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[on(confirm(yes: bool) => if yes { Packed } else { Refused }, by = User)]
    #[on(retry => if failures < 3 { Self(failures = failures + 1) } else { Refused })]
    Placed { failures: u32 },

    #[on(ship(weight: u32) => if weight > 20 { Refused } else { Shipped })]
    #[on(cancel => Cancelled)]
    Packed,

    #[terminal]
    Refused,

    #[on(deliver => Delivered)]
    Shipped,

    #[terminal]
    Delivered,

    #[terminal]
    Cancelled,
}

// A choice is legal only from the states that declare it.
fn from_a_state_without_it(placed: Order<order::Placed>) {
    let _after = placed.ship(7);
}

// A choice checks its actor as any transition does.
fn wrong_actor(placed: Order<order::Placed>, by: &ToolNode) {
    let _after = placed.confirm(true, by);
}

// If only one state declares a choice with `Self`, the variant has the name of the state.
fn same_of_one_state(placed: Order<order::Placed>) {
    match placed.retry() {
        AfterRetry::Same(_placed) => {}
        AfterRetry::Refused(_refused) => {}
    }
}

// A choice returns an enum, and not one of the states that it can lead to.
fn outcome_taken_for_a_state(packed: Order<order::Packed>) {
    let _delivered = packed.ship(7).deliver();
}

// The outcome of a choice is not the erased machine.
fn outcome_used_as_a_machine(packed: Order<order::Packed>) {
    let _status = packed.ship(7).status();
}

// The enum has a variant for each target, and no others.
fn variant_that_is_not_a_target(packed: Order<order::Packed>) {
    match packed.ship(7) {
        AfterShip::Cancelled(_cancelled) => {}
        _ => {}
    }
}

// Every target of the choice is handled.
fn outcome_not_covered(packed: Order<order::Packed>) {
    match packed.ship(7) {
        AfterShip::Shipped(_shipped) => {}
    }
}

fn main() {}
