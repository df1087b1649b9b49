// M0014

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, after = limit, by = GraphRunner, after = limit / 2)]
    Asked { limit: Duration },

    #[terminal]
    Unanswered,
}

fn main() {
    let actors = Actors::issue("inbox").unwrap();
    let _unanswered = Question::new(Duration::from_secs(30)).timeout(&actors.graph_runner);
}
