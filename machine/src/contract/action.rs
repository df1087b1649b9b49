use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::InvalidContract;
use crate::journal::Digest;

/// What to do. It says nothing of how it goes: that is the contract's execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    action_type: ActionType,
    action_detail: Map<String, Value>,
}

/// What sort of action it is. Open to more than the two that the library knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum ActionType {
    /// A tool runs.
    ToolCall,
    /// A person is asked.
    EcsRequest,
    /// Something else, by name.
    Other(String),
}

impl Action {
    /// The largest `action_detail`, as JSON text in bytes: 256 KiB.
    pub const MAX_DETAIL_BYTES: usize = 256 * 1024;

    /// An action from its detail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::TooLarge`] when the detail is larger than
    /// [`MAX_DETAIL_BYTES`](Self::MAX_DETAIL_BYTES).
    pub fn new(
        action_type: ActionType,
        action_detail: Map<String, Value>,
    ) -> Result<Self, InvalidContract> {
        let bytes = canonical(&Value::Object(action_detail.clone())).len();
        if bytes > Self::MAX_DETAIL_BYTES {
            return Err(InvalidContract::TooLarge { bytes });
        }
        Ok(Self { action_type, action_detail })
    }

    /// What sort of action it is.
    #[must_use]
    pub fn action_type(&self) -> &ActionType {
        &self.action_type
    }

    /// The parameters.
    #[must_use]
    pub fn detail(&self) -> &Map<String, Value> {
        &self.action_detail
    }

    /// Tells this exact action from every other. The order of keys does not matter.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let detail = canonical(&Value::Object(self.action_detail.clone()));
        Digest::of(&[self.action_type.to_string().as_bytes(), detail.as_bytes()])
    }
}

/// JSON text with sorted keys and no spaces.
///
/// Sorting is done here and not left to `serde_json`, whose maps keep another order when any crate
/// in the program asks for that.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

impl fmt::Display for ActionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToolCall => "tool_call",
            Self::EcsRequest => "ecs_request",
            Self::Other(name) => name,
        })
    }
}

impl FromStr for ActionType {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "tool_call" => Self::ToolCall,
            "ecs_request" => Self::EcsRequest,
            other => Self::Other(other.to_owned()),
        })
    }
}

impl From<String> for ActionType {
    fn from(text: String) -> Self {
        let Ok(action_type) = text.parse();
        action_type
    }
}

impl From<ActionType> for String {
    fn from(action_type: ActionType) -> Self {
        action_type.to_string()
    }
}
