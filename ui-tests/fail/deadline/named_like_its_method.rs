// M0008: a machine with a deadline has this method.

use std::time::Duration;

use machine::{actor::GraphRunner, machine};

#[machine]
enum Session {
    #[initial]
    #[on(expire => Over, by = GraphRunner, after = Duration::from_secs(60))]
    #[on(deadlines => Over)]
    Open,

    #[terminal]
    Over,
}

fn main() {
    assert_eq!(Session::new().deadlines().count(), 1);
}
