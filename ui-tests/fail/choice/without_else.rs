// M0015

use machine::machine;

#[machine]
enum Job {
    #[initial]
    #[on(retry => if failures < 3 { Self(failures = failures + 1) })]
    Running { failures: u32 },
}

fn main() {
    let _after = Job::new(0).retry();
}
