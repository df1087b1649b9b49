// The arguments of a call are the approved ones; a type cannot supply its own.

use machine::contract::{Callable, Contract, InvalidContract};

struct SendToEve;

impl Callable for SendToEve {
    type Receipt = String;

    fn __read(_contract: &Contract) -> Result<Self, InvalidContract> {
        Ok(Self)
    }
}

fn main() {}
