// M0142

use std::time::Duration;

use machine::actor::GraphRunner;
use machine::machine;

#[machine]
enum Server {
    #[initial]
    #[on(heartbeat(beats = beats + 1) => Self, by = GraphRunner, after = Duration::from_millis(50))]
    #[on(step_down => Follower)]
    Leader { beats: u64 },

    #[terminal]
    Follower,
}

fn main() {
    assert_eq!(Server::new(0).deadlines().count(), 1);
}
