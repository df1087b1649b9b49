// A machine cannot be cloned, because the clone could be moved a second time.

use machine::contract::{Execution, execution::Pending};

fn copy(pending: Execution<Pending>) {
    let _second = pending.clone();
}

fn main() {}
