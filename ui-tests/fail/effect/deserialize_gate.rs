// A gate comes from `Contract::ask` or from its store. It cannot be deserialized.

use machine::contract::Gate;

fn read(json: &str) -> Gate {
    serde_json::from_str(json).unwrap()
}

fn main() {}
