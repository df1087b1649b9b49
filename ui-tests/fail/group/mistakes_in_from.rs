// Mistakes in `from`. Each machine is named after its mistake.

use machine::machine;

// M0112: a misspelt state.
#[machine(on(stop => Stopped, from = Active | Hold))]
enum Misspelt {
    #[initial]
    #[group(Active)]
    #[on(hold => Held)]
    Running,

    #[on(resume => Running)]
    Held,

    #[terminal]
    Stopped,
}

// M0201: a transition out of a terminal state.
#[machine(on(stop => Stopped, from = Active | Stopped))]
enum OutOfTheEnd {
    #[initial]
    #[group(Active)]
    #[on(turn => Running)]
    Running,

    #[terminal]
    Stopped,
}

// M0110: a group is named twice.
#[machine(on(stop => Stopped, from = Active | Active))]
enum NamedTwice {
    #[initial]
    #[group(Active)]
    #[on(turn => Running)]
    Running,

    #[terminal]
    Stopped,
}

// M0005: `from` on a state, which is what it leaves.
#[machine]
enum FromOnAState {
    #[initial]
    #[on(stop => Stopped, from = Running)]
    Running,

    #[terminal]
    Stopped,
}

fn main() {}
