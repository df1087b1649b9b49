// The compiler checks the expressions of deadlines. Triggers are named after the mistakes.

use std::time::{Duration, SystemTime};

use machine::actor::GraphRunner;
use machine::machine;

#[machine(
    // Every state of the group has the fields that the group's deadline uses.
    on(group_without_the_field => Expired, from = Active, by = GraphRunner, after = limit),
)]
enum Question {
    #[initial]
    #[group(Active)]
    #[on(read => Read)]
    // `after` takes a `Duration` or an `Option<Duration>`.
    #[on(not_a_duration => Expired, by = GraphRunner, after = seconds)]
    // `after` is a duration; `at` is a point in time.
    #[on(point_in_time => Expired, by = GraphRunner, after = until)]
    // A deadline sees the fields of its state, and the context.
    #[on(unknown_name => Expired, by = GraphRunner, after = Duration::from_secs(second))]
    Asked { limit: Duration, seconds: u64, until: SystemTime },

    #[group(Active)]
    Read,

    #[terminal]
    Expired,
}

fn main() {
    let asked = Question::new(Duration::from_secs(30), 30, SystemTime::now());
    assert_eq!(asked.deadlines().count(), 4);
}
