// Only the actor of the deadline makes its transition, whether it is due or not.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, by = GraphRunner, after = Duration::from_secs(30))]
    Asked,

    #[terminal]
    Unanswered,
}

fn main() {
    let actors = Actors::issue("inbox").unwrap();
    let _unanswered = Question::new().timeout(&actors.graph_runner);
    let _unanswered = Question::new().timeout(&actors.reasoning_node);
}
