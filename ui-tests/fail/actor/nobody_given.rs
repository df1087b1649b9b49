// EX-4: a restricted move asks who acts.

use machine::contract::{Execution, execution::Pending};

fn start(pending: Execution<Pending>) {
    let _ = pending.start();
}

fn main() {}
