// A key is derived from the action; it cannot be chosen.

use machine::contract::IdempotencyKey;

fn another() -> IdempotencyKey {
    IdempotencyKey("email:send:2".to_owned())
}

fn main() {}
