// EX-5: a permit lives in one process. It cannot be stored and read again.

use machine::contract::Permit;
use serde::de::DeserializeOwned;

fn needs<T: DeserializeOwned>() {}

fn main() {
    needs::<Permit>();
}
