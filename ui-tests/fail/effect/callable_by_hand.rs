// EX-5: the arguments of a call are those that were approved. A type cannot bring its own.

use machine::contract::{Callable, Contract, InvalidContract};

struct SendToEve;

impl Callable for SendToEve {
    type Receipt = String;

    fn __read(_contract: &Contract) -> Result<Self, InvalidContract> {
        Ok(Self)
    }
}

fn main() {}
