// EX-5: a key is derived from the action, and never read from data.

use machine::contract::IdempotencyKey;

fn read(json: &str) -> IdempotencyKey {
    serde_json::from_str(json).unwrap()
}

fn main() {}
