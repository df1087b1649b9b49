// M0122

use std::time::Duration;

use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, after = limit)]
    Asked { limit: Duration },

    #[terminal]
    Unanswered,
}

fn main() {
    let _unanswered = Question::new(Duration::from_secs(30)).timeout();
}
