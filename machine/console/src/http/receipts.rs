use std::collections::BTreeMap;

use machine::contract::Tool;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks that a receipt has the type of its tool.
type Check = fn(&Value) -> Result<(), serde_json::Error>;

/// The tools whose receipts are checked, by name.
#[derive(Default)]
pub(super) struct Receipts(BTreeMap<String, Check>);

impl Receipts {
    pub(super) fn add<T: Tool>(&mut self) {
        self.0.insert(format!("{}.{}", T::SERVICE, T::METHOD), is_of::<T::Receipt>);
    }

    pub(super) fn check(
        &self,
        tool: Option<&str>,
        receipt: &Value,
    ) -> Result<(), serde_json::Error> {
        tool.and_then(|tool| self.0.get(tool)).map_or(Ok(()), |check| check(receipt))
    }
}

fn is_of<R: DeserializeOwned>(receipt: &Value) -> Result<(), serde_json::Error> {
    R::deserialize(receipt).map(drop)
}
