// EX-2: text from outside is no machine. It becomes an `Unverified`, and `verify` makes the machine.

use machine::contract::{Execution, execution::Completed};
use machine::erased::Unverified;
use serde::de::DeserializeOwned;

fn needs<T: DeserializeOwned>() {}

fn main() {
    needs::<Unverified>();
    needs::<Completed>();
    needs::<Execution<Completed>>();
}
