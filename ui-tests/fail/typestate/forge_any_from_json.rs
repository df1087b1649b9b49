// An erased machine cannot be deserialized without `verify`.

use machine::contract::AnyExecution;
use serde::de::DeserializeOwned;

fn needs<T: DeserializeOwned>() {}

fn main() {
    needs::<AnyExecution>();
}
