// EX-2: nothing leaves REJECTED, not even `timeout`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn timeout(rejected: Execution<Rejected>) {
    let _ = rejected.timeout("nobody answered".to_owned(), &GraphRunner);
}

fn main() {}
