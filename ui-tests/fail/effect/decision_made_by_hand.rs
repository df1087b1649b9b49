// A decision comes from a person who answers a gate.

use machine::contract::Decision;

fn approve() -> Decision {
    Decision { approved: true, by: "ann".to_owned(), at: 0, expires_at: None }
}

fn main() {}
