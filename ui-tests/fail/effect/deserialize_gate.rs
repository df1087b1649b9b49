// EX-9: a gate comes from `Contract::ask`, or from the store that has it. It is not read from JSON.

use machine::contract::Gate;

fn read(json: &str) -> Gate {
    serde_json::from_str(json).unwrap()
}

fn main() {}
