// Mistakes around deadlines. Machines and triggers are named after the mistakes.

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

#[machine]
enum AfterAndAt {
    #[initial]
    // M0005: a deadline is a duration or a point in time.
    #[on(timeout => Unanswered, after = Duration::from_secs(30), at = until)]
    Asked { until: i64 },

    #[terminal]
    Unanswered,
}

#[machine]
enum NamedLikeItsMethod {
    #[initial]
    #[on(expire => Over, by = GraphRunner, after = Duration::from_secs(60))]
    // M0008: a machine with a deadline has this method.
    #[on(deadlines => Over)]
    Open,

    #[terminal]
    Over,
}

fn main() {
    assert_eq!(Job::new(0, Duration::from_secs(30)).deadlines().count(), 3);
    let asked = AfterAndAt::new(7);
    assert_eq!(AnyAfterAndAt::from(asked).status(), after_and_at::Status::Asked);
    assert_eq!(NamedLikeItsMethod::new().deadlines().count(), 1);
}
