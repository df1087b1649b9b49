// A deadline sees the fields of its state, and the context.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, by = GraphRunner, after = Duration::from_secs(seconds))]
    Asked { limit: u64 },

    #[terminal]
    Unanswered,
}

fn main() {
    let actors = Actors::issue("inbox").unwrap();
    let _unanswered = Question::new(30).timeout(&actors.graph_runner);
}
