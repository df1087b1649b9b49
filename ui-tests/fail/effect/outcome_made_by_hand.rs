// Only a call under a permit has an outcome.

use machine::contract::{Evidence, Outcome};

fn forge() -> Outcome {
    Outcome { evidence: Evidence::Applied("sent".to_owned()) }
}

fn main() {}
