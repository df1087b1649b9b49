// M0119: `Self` is another state there.

use machine::machine;

#[machine]
enum Job {
    #[initial]
    #[on(retry => if failures < 3 { Running(failures = failures + 1) } else { Failed })]
    #[on(pause => Paused)]
    Running { failures: u32 },

    #[on(retry => if failures < 3 { Self(failures = failures + 1) } else { Failed })]
    Paused { failures: u32 },

    #[terminal]
    Failed,
}

fn main() {
    let _after = Job::new(0).retry();
    let _after = Job::new(0).pause().retry();
}
