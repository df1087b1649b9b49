// M0005: the fields of a target are in parentheses.

use machine::machine;

#[machine]
enum Job {
    #[initial]
    #[on(retry => if failures < 3 { Self { failures: failures + 1 } } else { Failed })]
    Running { failures: u32 },

    #[terminal]
    Failed,
}

fn main() {
    let _after = Job::new(0).retry();
}
