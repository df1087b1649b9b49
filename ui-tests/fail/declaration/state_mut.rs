// M0002: machines whose data cannot be changed in place by other crates. They are named after the mistakes.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(
    // M0002: without the option, the crate of the machine has the method.
    state_mut = pub(crate)
)]
enum PrivateDoor {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

#[machine(
    durable,
    // M0002: a change without a transition would not be in the journal.
    state_mut = pub
)]
#[derive(Debug, Serialize, Deserialize)]
enum DurableDoor {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn main() {
    let _closed = PrivateDoor::new().open().close();
    let _closed = DurableDoor::new().open().close();
}
