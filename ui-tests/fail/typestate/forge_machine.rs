// EX-2: a machine cannot be written down; it is made by `new`, a transition, or a verified restore.

use machine::contract::{Execution, execution::Completed};

fn forge() -> Execution<Completed> {
    Execution { state: Completed { result: "sent".to_owned() } }
}

fn main() {}
