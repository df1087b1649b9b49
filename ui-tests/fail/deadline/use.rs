// Uses of deadlines. Functions are named after the mistakes.

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

#[machine]
enum Door {
    #[initial]
    #[on(close => Closed)]
    Open,

    #[terminal]
    Closed,
}

// Only the actor of the deadline makes its transition, whether it is due or not.
fn wrong_actor(asked: Question<question::Asked>, by: &ReasoningNode) {
    let _unanswered = asked.timeout(by);
}

// Only a machine with a deadline can fire one.
fn none_declared(door: AnyDoor) {
    let _closed = door.fire_deadline("close");
}

fn main() {}
