// EX-2: nothing leaves CANCELLED, not even `resume`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Cancelled};

fn resume(cancelled: Execution<Cancelled>) {
    let _ = cancelled.resume(&GraphRunner);
}

fn main() {}
