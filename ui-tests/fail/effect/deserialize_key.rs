// A key is derived from the action. It cannot be deserialized.

use machine::contract::IdempotencyKey;

fn read(json: &str) -> IdempotencyKey {
    serde_json::from_str(json).unwrap()
}

fn main() {}
