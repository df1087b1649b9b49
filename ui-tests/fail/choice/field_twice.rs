// M0110: in a branch of a choice.

use machine::machine;

#[machine]
enum Job {
    #[initial]
    #[on(retry => if failures < 3 {
        Self(failures = failures + 1, failures = 0)
    } else {
        Failed
    })]
    Running { failures: u32 },

    #[terminal]
    Failed,
}

fn main() {
    let _after = Job::new(0).retry();
}
