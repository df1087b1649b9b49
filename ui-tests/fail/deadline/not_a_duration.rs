// `after` takes a `Duration` or an `Option<Duration>`.

use machine::actor::GraphRunner;
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(answer => Answered)]
    #[on(timeout => Unanswered, by = GraphRunner, after = seconds)]
    Asked { seconds: u64 },

    #[terminal]
    Answered,

    #[terminal]
    Unanswered,
}

fn main() {
    let asked = Question::new(30);
    assert_eq!(asked.deadlines().count(), 1);
}
