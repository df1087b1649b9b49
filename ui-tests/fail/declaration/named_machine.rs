// M0013

use machine::machine;

#[machine]
enum Machine {
    #[initial]
    #[on(stop => Stopped)]
    Running,

    #[terminal]
    Stopped,
}

fn main() {
    let _stopped = Machine::new().stop();
}
