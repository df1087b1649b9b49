// A permit is for one call, so it cannot be cloned.

use machine::contract::{Action, Permit};

fn keep_one(permit: Permit<Action>) {
    let _second = permit.clone();
}

fn main() {}
