// M0127

use machine::machine;

#[machine(fields(goal: String))]
enum Plan {
    #[initial]
    #[on(start => Working)]
    Idle,

    #[on(finish => Finished)]
    Working { goal: String },

    #[terminal]
    Finished,
}

fn main() {
    let finished = Plan::new("a shed".to_owned()).start().finish();
    assert_eq!(finished.goal(), "a shed");
}
