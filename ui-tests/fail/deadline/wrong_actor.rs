// Only the actor of the deadline makes its transition, whether it is due or not.

use std::time::Duration;

use machine::actor::{GraphRunner, ReasoningNode};
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
    let _unanswered = Question::new().timeout(&GraphRunner);
    let _unanswered = Question::new().timeout(&ReasoningNode);
}
