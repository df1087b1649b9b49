// A permit is valid in one process. It cannot be stored and read back.

use machine::contract::{Action, Permit};

fn read(json: &str) -> Permit<Action> {
    serde_json::from_str(json).unwrap()
}

fn main() {}
