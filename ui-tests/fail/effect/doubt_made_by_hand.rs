// An execution is in doubt only if its permit is unanswered; the store says which ones are.

use machine::contract::{Execution, InDoubt, execution::Waiting};

fn forge(waiting: Execution<Waiting>) -> InDoubt {
    InDoubt(waiting)
}

fn main() {}
