// EX-5: only `Store::begin` issues permits.

use machine::contract::{Execution, Permit, execution::Pending};

fn forge(pending: Execution<Pending>) -> Permit {
    Permit { execution_id: pending.id() }
}

fn main() {}
