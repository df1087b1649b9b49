// An actor is a capability: it is lent, not copied.

use machine::actor::Actors;

fn keep_one(actors: &Actors) {
    let _mine = actors.graph_runner.clone();
}

fn main() {}
