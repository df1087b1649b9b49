// `at` takes a point in time.

use machine::actor::GraphRunner;
use machine::machine;

#[machine]
enum Trial {
    #[initial]
    #[on(end => Ended, by = GraphRunner, at = until)]
    Running { until: u64 },

    #[terminal]
    Ended,
}

fn main() {
    assert_eq!(Trial::new(7).deadlines().count(), 1);
}
