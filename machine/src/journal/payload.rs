use serde::Serialize;
use serde_json::{Map, Value};

/// What a caller brings to a transition, on its way into the journal.
#[derive(Debug, Default)]
pub struct Payload {
    items: Map<String, Value>,
    error: Option<String>,
}

impl Payload {
    /// Adds an item. One that cannot be written as JSON makes the commit fail, not the transition:
    /// a transition is pure and cannot fail.
    #[doc(hidden)]
    #[must_use]
    pub fn __with(mut self, name: &str, item: &impl Serialize) -> Self {
        match serde_json::to_value(item) {
            Ok(value) => drop(self.items.insert(name.to_owned(), value)),
            Err(error) => self.error = Some(format!("`{name}` cannot be written as JSON: {error}")),
        }
        self
    }

    pub(super) fn finish(self) -> (Map<String, Value>, Option<String>) {
        (self.items, self.error)
    }
}
