// M0005

use std::time::Duration;

use machine::actor::GraphRunner;
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, by = GraphRunner, after = Duration::from_secs(30), at = until)]
    Asked { until: i64 },

    #[terminal]
    Unanswered,
}

fn main() {
    let asked = Question::new(7);
    assert_eq!(AnyQuestion::from(asked).status(), question::Status::Asked);
}
