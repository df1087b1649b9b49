// JSON becomes an `Unverified`, and only `verify` makes a machine of it.

use machine::contract::{Execution, execution::Completed};
use machine::stored::Unverified;
use serde::de::DeserializeOwned;

fn needs<T: DeserializeOwned>() {}

fn main() {
    needs::<Unverified>();
    needs::<Completed>();
    needs::<Execution<Completed>>();
}
