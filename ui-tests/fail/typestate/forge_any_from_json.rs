// EX-2: the erased machine is a machine too, and no text becomes one without `verify`.

use machine::contract::AnyExecution;
use serde::de::DeserializeOwned;

fn needs<T: DeserializeOwned>() {}

fn main() {
    needs::<AnyExecution>();
}
