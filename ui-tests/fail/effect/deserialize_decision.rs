// EX-9: a decision is that of a person. It is not read from JSON.

use machine::contract::Decision;

fn read(json: &str) -> Decision {
    serde_json::from_str(json).unwrap()
}

fn main() {}
