// M0121

use std::time::Duration;

use machine::actor::GraphRunner;
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout(reason) => Unanswered, by = GraphRunner, after = limit)]
    Asked { limit: Duration },

    #[terminal]
    Unanswered { reason: String },
}

fn main() {
    let asked = Question::new(Duration::from_secs(30));
    let unanswered = asked.timeout("no answer".to_owned(), &GraphRunner);
    assert_eq!(unanswered.state().reason, "no answer");
}
