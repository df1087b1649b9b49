use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    canonical::is_too_deep,
    portable::{WRITES_ANY_NUMBER, check_value},
    written::{TOO_DEEP, write_text},
};

/// The payload of a transition, as recorded in the journal.
#[derive(Debug, Default)]
pub struct Payload {
    items: Map<String, Value>,
    error: Option<String>,
}

impl Payload {
    /// Adds an item. One that is null is left out: a payload without an item of its transition has
    /// it as null. If an item cannot be written as JSON, the commit fails, not the transition:
    /// transitions are pure and cannot fail.
    pub(crate) fn with(mut self, name: &str, item: &impl Serialize) -> Self {
        match value_of(item) {
            Ok(Value::Null) => {}
            Ok(value) => drop(self.items.insert(name.to_owned(), value)),
            Err(reason) => self.error = Some(format!("`{name}` of the payload: {reason}")),
        }
        self
    }

    pub(super) fn finish(self) -> (Map<String, Value>, Option<String>) {
        (self.items, self.error)
    }
}

fn value_of(item: &impl Serialize) -> Result<Value, String> {
    let value = serde_json::to_value(item);
    // The error of the text says what to do, and with `arbitrary_precision` a value has any number.
    if value.is_err() || *WRITES_ANY_NUMBER {
        write_text(item).map_err(|refused| refused.source.to_string())?;
    }
    let value = value.map_err(|error| error.to_string())?;
    if is_too_deep(&value) {
        return Err(TOO_DEEP.to_owned());
    }
    if *WRITES_ANY_NUMBER {
        check_value(&value).map_err(|found| found.to_string())?;
    }
    Ok(value)
}
