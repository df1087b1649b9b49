// M0129

use machine::machine;

#[machine(fields(goal: String, in = Idle | Working), fields(goal: String, in = Finished))]
enum Plan {
    #[initial]
    #[on(start => Working)]
    Idle,

    #[on(finish => Finished)]
    Working,

    #[terminal]
    Finished,
}

fn main() {
    let finished = Plan::new("a shed".to_owned()).start().finish();
    assert_eq!(finished.goal(), "a shed");
}
