//! Actions as views show them: with digests in the places of secrets.

use std::{borrow::Cow, fmt};

use serde_json::{Map, Value};

use super::{
    Action,
    secret::{hide, with_digests},
};
use crate::journal::canonical_whole_object;

/// The arguments of a tool call, or the detail of another action, as views show them.
pub(super) fn shown_arguments(action: &Action) -> Cow<'_, Map<String, Value>> {
    let arguments = action.tool().map_or(action.detail(), |call| call.arguments);
    with_digests(arguments, &action.secrets())
}

impl Action {
    /// Its detail with digests in the places of secrets, as views show it.
    pub(crate) fn shown_detail(&self) -> Map<String, Value> {
        let mut detail = self.detail().clone();
        hide(&mut detail);
        detail
    }

    /// The tool that it calls and the arguments as JSON, with digests in the places of secrets;
    /// `None` if it calls none.
    pub(crate) fn shown_call(&self) -> Option<String> {
        let name = self.tool_name()?;
        Some(format!("{name} {}", canonical_whole_object(&shown_arguments(self))))
    }

    /// The places of its secrets in its arguments.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        let Some(Value::Array(places)) = self.detail().get("secrets") else { return Vec::new() };
        places.iter().filter_map(Value::as_str).collect()
    }
}

/// Without its secrets, so that they do not get into logs.
impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Action")
            .field("action_type", self.action_type())
            .field("action_detail", &self.shown_detail())
            .finish()
    }
}
