// EX-5: a permit is valid in one process. It cannot be stored and read back.

use machine::contract::Permit;
use serde::de::DeserializeOwned;

fn needs<T: DeserializeOwned>() {}

fn main() {
    needs::<Permit>();
}
