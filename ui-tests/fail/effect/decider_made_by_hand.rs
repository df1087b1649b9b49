// Only a person is recorded as the one who decided about a retry.

use machine::contract::Decider;

fn ann() -> Decider {
    Decider("ann".to_owned())
}

fn main() {}
