// A decision comes from a person. It cannot be deserialized.

use machine::contract::Decision;

fn read(json: &str) -> Decision {
    serde_json::from_str(json).unwrap()
}

fn main() {}
