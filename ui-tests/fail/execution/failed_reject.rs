// EX-2: nothing leaves FAILED, not even `reject`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Failed};

fn reject(failed: Execution<Failed>) {
    let _ = failed.reject("not allowed".to_owned(), &GraphRunner);
}

fn main() {}
