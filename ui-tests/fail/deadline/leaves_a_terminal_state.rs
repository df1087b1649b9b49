// M0201: a deadline is a transition, and nothing leaves a terminal state.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(answer => Answered)]
    Asked { limit: Duration },

    #[terminal]
    #[on(reopen => Asked, by = GraphRunner, after = limit)]
    Answered { limit: Duration },
}

fn main() {
    let actors = Actors::issue("inbox").unwrap();
    let answered = Question::new(Duration::from_secs(30)).answer();
    let _asked = answered.reopen(&actors.graph_runner);
}
