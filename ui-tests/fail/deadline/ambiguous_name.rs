// M0120: in `after`.

use std::time::Duration;

use machine::actor::GraphRunner;
use machine::machine;

#[machine(context = Duration)]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, by = GraphRunner, after = context)]
    Asked { context: Duration },

    #[terminal]
    Unanswered,
}

fn main() {
    let second = Duration::from_secs(1);
    let _unanswered = Question::new(second, second).timeout(&GraphRunner);
}
