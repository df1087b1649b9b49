// M0121

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
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
    let actors = Actors::issue("inbox").unwrap();
    let asked = Question::new(Duration::from_secs(30));
    let unanswered = asked.timeout("no answer".to_owned(), &actors.graph_runner);
    assert_eq!(unanswered.state().reason, "no answer");
}
