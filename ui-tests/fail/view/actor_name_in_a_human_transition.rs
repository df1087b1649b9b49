// People do not see the names of actors.

use machine::view::{Human, TransitionRecord};

fn actor(transition: TransitionRecord<Human>) -> Option<String> {
    transition.actor_name
}

fn main() {
    let _ = actor;
}
