// EX-2: nothing leaves REJECTED, not even `succeed`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Rejected};

fn succeed(rejected: Execution<Rejected>) {
    let _ = rejected.succeed("sent".to_owned(), &GraphRunner);
}

fn main() {}
