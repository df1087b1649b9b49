// A machine cannot be constructed; `new`, a transition or a verified restore makes it.

use machine::contract::{Execution, execution::Completed};

fn forge() -> Execution<Completed> {
    Execution { state: Completed { result: "sent".to_owned() } }
}

fn main() {}
