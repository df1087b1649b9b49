// M0005

use std::time::Duration;

use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, after = Duration::from_secs(30), at = until)]
    Asked { until: i64 },

    #[terminal]
    Unanswered,
}

fn main() {
    let asked = Question::new(7);
    assert_eq!(AnyQuestion::from(asked).status(), question::Status::Asked);
}
