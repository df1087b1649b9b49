// EX-5: who decided about a retry is on record as a person only if it was one.

use machine::contract::Decider;

fn ann() -> Decider {
    Decider("ann".to_owned())
}

fn main() {}
