// If only one state declares a choice with `Self`, the variant has the name of the state.

use job::AfterRetry;
use machine::machine;

#[machine]
enum Job {
    #[initial]
    #[on(retry => if failures < 3 { Self(failures = failures + 1) } else { Failed })]
    Running { failures: u32 },

    #[terminal]
    Failed,
}

fn main() {
    match Job::new(0).retry() {
        AfterRetry::Same(_running) => {}
        AfterRetry::Failed(_failed) => {}
    }
}
