// M0120: in `after`.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
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
    let actors = Actors::issue("inbox").unwrap();
    let second = Duration::from_secs(1);
    let _unanswered = Question::new(second, second).timeout(&actors.graph_runner);
}
