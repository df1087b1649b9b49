use std::any::Any;

use serde_json::Value;

/// The outcome of a call as JSON, if it has one: the receipt, or the error.
pub(crate) type OutcomeData = Option<Result<Value, Value>>;

/// Reads the outcomes of the calls that a state makes, which are data of its tool. A call that is
/// no execution has none.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeReader {
    /// As the triggers of the state take it.
    pub(crate) read: fn(&dyn Any) -> serde_json::Result<OutcomeData>,
    /// Returns whether this is the outcome of a call.
    pub(crate) is: fn(&dyn Any, Result<&Value, &Value>) -> serde_json::Result<bool>,
}
