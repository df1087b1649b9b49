// M0024

use machine::machine;

#[machine(fields(goal, in = Working | Finished))]
enum Plan {
    #[initial]
    #[on(start(goal) => Working)]
    Idle,

    #[on(finish => Finished)]
    Working,

    #[terminal]
    Finished,
}

fn main() {
    let finished = Plan::new().start("a shed".to_owned()).finish();
    assert_eq!(finished.goal(), "a shed");
}
