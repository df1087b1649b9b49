// EX-5: only a call under a permit has an outcome.

use machine::Id;
use machine::contract::{Evidence, Outcome};

fn forge(execution_id: Id) -> Outcome {
    Outcome { execution_id, evidence: Evidence::Applied("sent".to_owned()) }
}

fn main() {}
