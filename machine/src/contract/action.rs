use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::InvalidContract;
use crate::journal::{Digest, canonical, depth, plain_numbers};

/// What to do: type and parameters. Progress and result belong to the
/// [`Execution`](super::Execution).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    action_type: ActionType,
    action_detail: Map<String, Value>,
}

/// The type of an action. Open-ended: [`Other`](Self::Other) holds types that the library does not
/// know.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum ActionType {
    /// Calls a tool.
    ToolCall,
    /// Asks a person.
    EcsRequest,
    /// Any other type, by name.
    Other(String),
}

impl Action {
    /// The maximum size of `action_detail` as JSON text: 256 KiB.
    pub const MAX_DETAIL_BYTES: usize = 256 * 1024;

    /// The maximum nesting depth of `action_detail`. `serde_json` stops at 128, and a stored detail
    /// is nested inside other JSON.
    pub const MAX_DETAIL_DEPTH: usize = 64;

    /// Makes an action from its type and detail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::TooLarge`] if the detail is larger than
    /// [`MAX_DETAIL_BYTES`](Self::MAX_DETAIL_BYTES), [`InvalidContract::TooDeep`] if it is nested
    /// deeper than [`MAX_DETAIL_DEPTH`](Self::MAX_DETAIL_DEPTH).
    pub fn new(
        action_type: ActionType,
        action_detail: Map<String, Value>,
    ) -> Result<Self, InvalidContract> {
        let detail = Value::Object(action_detail.clone());
        if depth(&detail) > Self::MAX_DETAIL_DEPTH {
            return Err(InvalidContract::TooDeep);
        }
        let bytes = canonical(&detail).len();
        if bytes > Self::MAX_DETAIL_BYTES {
            return Err(InvalidContract::TooLarge { bytes });
        }
        Ok(Self { action_type, action_detail })
    }

    /// The type of the action.
    #[must_use]
    pub fn action_type(&self) -> &ActionType {
        &self.action_type
    }

    /// The parameters.
    #[must_use]
    pub fn detail(&self) -> &Map<String, Value> {
        &self.action_detail
    }

    /// Identifies this exact action. Key order does not matter, nor whether a whole number is
    /// written as `1` or `1.0`.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let detail = canonical(&plain(Value::Object(self.action_detail.clone())));
        Digest::of(&[self.action_type.to_string().as_bytes(), detail.as_bytes()])
    }
}

/// Normalizes whole numbers: models write both `1` and `1.0` for the same value.
pub(super) fn plain(value: Value) -> Value {
    whole(plain_numbers(value))
}

fn whole(value: Value) -> Value {
    // 2^53: a double represents every whole number up to here exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT =>
            {
                #[allow(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, whole(value))).collect(),
        other => other,
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
