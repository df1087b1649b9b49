// EX-5: a key is derived from the action. Nobody chooses it.

use machine::contract::IdempotencyKey;

fn another() -> IdempotencyKey {
    IdempotencyKey("email:send:2".to_owned())
}

fn main() {}
