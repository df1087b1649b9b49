// A restricted transition takes its actor as an argument.

use machine::contract::{Execution, execution::Pending};

fn start(pending: Execution<Pending>) {
    let _ = pending.start();
}

fn main() {}
