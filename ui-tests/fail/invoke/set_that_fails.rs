// M0134

use machine::contract::{Outcome, Tool};
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent, receipt = String)]
struct Read {
    path: String,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Search {
    #[initial]
    #[invoke(reads: [Read], done = found, failed = lost)]
    #[on(found(outcomes) => Done)]
    #[on(lost(why: String) => Done(outcomes = Vec::new()))]
    Reading { reads: Vec<Read> },

    #[terminal]
    Done { outcomes: Vec<Outcome<Read>> },
}

fn main() {
    let reading = Search::new(vec![Read { path: "notes.txt".to_owned() }]);
    assert_eq!(reading.state().reads.len(), 1);
}
