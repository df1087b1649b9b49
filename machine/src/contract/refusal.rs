use std::{
    fmt::{self, Display},
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::limits::{MAX_RECEIPT, bounded, bounded_receipt, was_cut};

/// Why a call was not applied: the `Display` of the refusal, for people, and the refusal of the
/// tool as JSON. If a person or the library itself refused, there is only the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refusal {
    /// The text for people.
    pub message: String,
    /// The refusal of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Refusal {
    /// The refusal of a tool. If it cannot be written as JSON, the call still counts as refused.
    #[must_use]
    pub fn of<N: Serialize + Display>(refusal: &N) -> Self {
        // Both are the user's code.
        let message = catch_unwind(AssertUnwindSafe(|| refusal.to_string()));
        let message = message.unwrap_or_else(|_| "a refusal whose `Display` panicked".to_owned());
        let data = match catch_unwind(AssertUnwindSafe(|| serde_json::to_value(refusal))) {
            // The JSON of a unit struct. As an option it would be read back as none.
            Ok(Ok(Value::Null)) => Value::Array(Vec::new()),
            Ok(Ok(data)) => match data.to_string() {
                text if text.len() > MAX_RECEIPT => bounded_receipt(text).into(),
                _ => data,
            },
            Ok(Err(error)) => format!("a refusal that cannot be written as JSON: {error}").into(),
            Err(_) => "a refusal whose `Serialize` panicked".into(),
        };
        Self { message: bounded(message), data: Some(data) }
    }
}

/// The refusal of a tool whose type is not known: a text is its own text for people, other JSON is
/// shown as it is.
impl From<Value> for Refusal {
    fn from(refusal: Value) -> Self {
        match &refusal {
            Value::String(text) => Self { message: bounded(text.clone()), ..Self::of(&refusal) },
            other => Self::of(other),
        }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self { message, data: None }
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

pub(super) fn read<N: DeserializeOwned>(data: &Value) -> serde_json::Result<N> {
    if data.as_str().is_some_and(|text| text.len() > MAX_RECEIPT) {
        return Err(was_cut("refusal"));
    }
    let is_unit = data.as_array().is_some_and(Vec::is_empty);
    let refusal = N::deserialize(data);
    if is_unit { refusal.or_else(|_| N::deserialize(Value::Null)) } else { refusal }
}

/// The refusal of a tool that is known at run time only: a text for people, and a code for
/// programs.
///
/// ```
/// use machine::contract::ActionRefusal;
///
/// let refusal = ActionRefusal::new("the service is down").code("retry");
/// assert_eq!(refusal.to_string(), "the service is down");
/// assert_eq!(refusal.code.as_deref(), Some("retry"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActionRefusal {
    /// A code by which programs recognize the refusal, such as `retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The reason, for people.
    pub message: String,
}

impl ActionRefusal {
    /// A refusal without a code.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }

    /// Sets the code.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}

impl From<String> for ActionRefusal {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl Display for ActionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
