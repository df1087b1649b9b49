use serde::Serialize;
use serde_json::{Map, Value};

use super::{canonical::is_too_deep, portable::check_written_value};

/// The payload of a transition, as recorded in the journal.
#[derive(Debug, Default)]
pub struct Payload {
    items: Map<String, Value>,
    error: Option<String>,
}

impl Payload {
    /// Adds an item. One that is null is left out: a payload without an item of its transition has it as null.
    /// If an item cannot be written as JSON, the commit fails, not the transition:
    /// transitions are pure and cannot fail.
    #[doc(hidden)]
    #[must_use]
    pub fn __with(mut self, name: &str, item: &impl Serialize) -> Self {
        match serde_json::to_value(item) {
            Ok(Value::Null) => {}
            Ok(value) if is_too_deep(&value) => {
                self.error = Some(format!("`{name}` is nested too deeply to be read back"));
            }
            Ok(value) => match check_written_value(&value) {
                Ok(()) => drop(self.items.insert(name.to_owned(), value)),
                Err(found) => self.error = Some(format!("`{name}`: {found}")),
            },
            Err(error) => self.error = Some(format!("`{name}` cannot be written as JSON: {error}")),
        }
        self
    }

    pub(super) fn finish(self) -> (Map<String, Value>, Option<String>) {
        (self.items, self.error)
    }
}
