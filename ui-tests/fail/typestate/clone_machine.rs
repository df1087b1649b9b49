// EX-2: a machine cannot be cloned. A clone could be moved a second time.

use machine::contract::{Execution, execution::Pending};

fn copy(pending: Execution<Pending>) {
    let _second = pending.clone();
}

fn main() {}
