// Only `Store::begin` issues permits.

use machine::contract::{Action, Call, Permit};

fn forge(call: Call<Action>) -> Permit<Action> {
    Permit { call }
}

fn main() {}
