// EX-2: there is one of each machine. A clone could be moved a second time.

use machine::contract::{Execution, execution::Pending};

fn copy(pending: Execution<Pending>) {
    let _second = pending.clone();
}

fn main() {}
