// Deadlines of states, whose transitions stay. Triggers are named after the mistakes.

use std::time::Duration;

use machine::actor::GraphRunner;
use machine::machine;

#[machine(
    on(of_the_group => Self, from = Active, by = GraphRunner, after = limit),
    // M0142: a state that `from` names has a deadline of its own.
    on(of_named_states => Self, from = Reading | Writing, by = GraphRunner, after = limit),
)]
enum Job {
    #[initial]
    #[group(Active)]
    // M0142: the branch that stays would be the last one.
    #[on(
        in_a_branch => if tries < 3 { Self(tries = tries + 1) } else { Stopped },
        by = GraphRunner,
        after = limit,
    )]
    #[on(next => Writing)]
    Reading { tries: u32, limit: Duration },

    #[group(Active)]
    #[on(stop => Stopped)]
    Writing { limit: Duration },

    #[terminal]
    Stopped,
}

fn main() {
    assert_eq!(Job::new(0, Duration::from_secs(30)).deadlines().count(), 3);
}
