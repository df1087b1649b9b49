// EX-2: nothing leaves REJECTED, not even `fail`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn fail(rejected: Execution<Rejected>) {
    let _ = rejected.fail("no route to host".to_owned(), &GraphRunner);
}

fn main() {}
