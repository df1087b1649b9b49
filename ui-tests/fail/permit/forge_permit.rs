// EX-5: a permit comes out of `SqliteStore::begin` and from nowhere else.

use machine::contract::{Execution, Permit, execution::Pending};

fn forge(pending: Execution<Pending>) -> Permit {
    Permit { execution_id: pending.id() }
}

fn main() {}
