// Members that people do not see. Functions are named after the mistakes.

use machine::view::{ExecutionSnapshot, Human, TransitionRecord};

// People do not see the names of actors.
fn actor_name_in_a_human_transition(transition: TransitionRecord<Human>) -> Option<String> {
    transition.actor_name
}

// People do not see the key.
fn key_in_a_human_snapshot(snapshot: &ExecutionSnapshot<Human>) -> &Option<String> {
    &snapshot.idempotency_key
}

fn main() {}
