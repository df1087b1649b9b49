// A deadline is a duration, not a point in time.

use std::time::SystemTime;

use machine::{actor::GraphRunner, machine};

#[machine]
enum Trial {
    #[initial]
    #[on(end => Ended, by = GraphRunner, after = until)]
    Active { until: SystemTime },

    #[terminal]
    Ended,
}

fn main() {
    let _trial = Trial::new(SystemTime::now());
}
