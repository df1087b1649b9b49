// The actors of the library come from `Actors::issue`.

use machine::actor::GraphRunner;
use machine::contract::{Execution, execution::Waiting};

fn resume(waiting: Execution<Waiting>) {
    let _ = waiting.resume(&GraphRunner);
}

fn main() {}
