use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use unicode_normalization::is_nfkc;

use super::{
    InvalidContract,
    invalid::{MAX_DETAIL_BYTES, MAX_DETAIL_DEPTH},
    secret,
};
use crate::actor::{Name, is_invisible};
use crate::journal::{
    Digest, canonical_object, canonical_whole, canonical_whole_object, check_object,
    depth_of_object, make_plain,
};

/// An action to perform: type and parameters. Progress and result belong to the
/// [`Execution`](super::Execution).
///
/// The detail of a tool call has the members `service`, `method` and `args`, and, if set,
/// `identity`, `occurrence` and `secrets` (the places of [secret](super::Secret) arguments, as JSON
/// pointers).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedAction")]
pub struct Action {
    action_type: ActionType,
    action_detail: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedAction {
    action_type: ActionType,
    action_detail: Map<String, Value>,
}

impl TryFrom<UncheckedAction> for Action {
    type Error = InvalidContract;

    fn try_from(unchecked: UncheckedAction) -> Result<Self, InvalidContract> {
        Self::new(unchecked.action_type, unchecked.action_detail)
    }
}

/// Checks the names of a tool: people read them, and `service.method` is one name.
pub(super) fn check_names(service: &str, method: &str) -> Result<(), &'static str> {
    if service.contains('.') {
        return Err(
            "its service contains a dot, which separates the service from the method; use another character",
        );
    }
    let hidden = |name: &str| name.chars().any(|one| one.is_whitespace() || is_invisible(one));
    if hidden(service) || hidden(method) {
        return Err("its service or its method contains a space or an invisible character");
    }
    let is_plain = |name: &str| name.is_empty() || is_nfkc(name) && !name.contains('\u{fe0f}');
    if !is_plain(service) || !is_plain(method) {
        return Err(
            "its service or its method contains a lookalike character, such as a full-width \
             letter; use its plain form (Unicode NFKC)",
        );
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CallParts<'a> {
    pub(super) service: &'a str,
    pub(super) method: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    /// Replaces the arguments in the key, if set.
    pub(super) identity: Option<&'a Value>,
    pub(super) occurrence: Option<&'a str>,
}

impl Action {
    /// The tool that it calls, such as `email.send`; `None` if it calls none.
    #[must_use]
    pub fn tool_name(&self) -> Option<String> {
        self.tool().map(|call| call.name())
    }

    /// The arguments of its tool; `None` if it calls none. They are internal: people see the
    /// [question](super::Gate::question) and the summary.
    #[must_use]
    pub fn arguments(&self) -> Option<&Map<String, Value>> {
        self.tool().map(|call| call.arguments)
    }

    pub(crate) fn tool_parts(&self) -> Option<(&str, &str)> {
        self.tool().map(|call| (call.service, call.method))
    }
}

impl CallParts<'_> {
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.service, self.method)
    }
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
    /// Makes an action from its type and detail.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::TooLarge`] if the detail has more than 256 KiB as JSON text,
    /// [`InvalidContract::TooDeep`] if it is nested more than 64 levels deep,
    /// [`InvalidContract::Unportable`] if another program would read it differently,
    /// [`InvalidContract::NotACall`] if the type is a tool call, and the detail is not.
    pub fn new(
        action_type: ActionType,
        mut action_detail: Map<String, Value>,
    ) -> Result<Self, InvalidContract> {
        // A known type may be written as any text.
        let action_type = match action_type {
            ActionType::Other(name) => ActionType::from(name),
            known => known,
        };
        if depth_of_object(&action_detail) > MAX_DETAIL_DEPTH {
            return Err(InvalidContract::TooDeep);
        }
        check_object(&action_detail)?;
        // Normalize first, so that the digest covers exactly the stored arguments.
        action_detail.values_mut().for_each(make_plain);
        let bytes = canonical_object(&action_detail).len();
        if bytes > MAX_DETAIL_BYTES {
            return Err(InvalidContract::TooLarge { bytes });
        }
        let action = Self { action_type, action_detail };
        if action.action_type == ActionType::ToolCall {
            action.check_call().map_err(InvalidContract::NotACall)?;
        }
        Ok(action)
    }

    pub(super) fn tool_call(
        (service, method): (&str, &str),
        arguments: Map<String, Value>,
        identity: Option<Value>,
        secrets: Vec<String>,
    ) -> Result<Self, InvalidContract> {
        let mut detail = Map::from_iter([
            ("service".to_owned(), Value::from(service)),
            ("method".to_owned(), Value::from(method)),
            ("args".to_owned(), Value::Object(arguments)),
        ]);
        if let Some(identity) = identity {
            detail.insert("identity".to_owned(), identity);
        }
        if !secrets.is_empty() {
            detail.insert("secrets".to_owned(), Value::from(secrets));
        }
        Self::new(ActionType::ToolCall, detail)
    }

    /// The same action with another member, or without it.
    pub(super) fn with(&self, member: &str, value: Option<Value>) -> Result<Self, InvalidContract> {
        let mut detail = self.action_detail.clone();
        match value {
            Some(value) => drop(detail.insert(member.to_owned(), value)),
            None => drop(detail.remove(member)),
        }
        Self::new(self.action_type.clone(), detail)
    }

    /// Its identity as canonical text; `None` if all arguments identify it.
    pub(crate) fn identity(&self) -> Option<String> {
        self.tool().and_then(|call| call.identity).map(canonical_whole)
    }

    pub(super) fn tool(&self) -> Option<CallParts<'_>> {
        if self.action_type != ActionType::ToolCall {
            return None;
        }
        let text = |name: &str| self.action_detail.get(name)?.as_str();
        Some(CallParts {
            service: text("service")?,
            method: text("method")?,
            arguments: self.action_detail.get("args")?.as_object()?,
            identity: self.action_detail.get("identity"),
            occurrence: text("occurrence"),
        })
    }

    fn check_call(&self) -> Result<(), &'static str> {
        let known = ["service", "method", "args", "identity", "occurrence", "secrets"];
        if !self.action_detail.keys().all(|name| known.contains(&name.as_str())) {
            return Err("it has an unknown member");
        }
        let call = self.tool().ok_or("it needs `service`, `method` and the object `args`")?;
        if call.service.is_empty() || call.method.is_empty() {
            return Err("its service or its method is empty");
        }
        check_names(call.service, call.method)?;
        if let Some(secrets) = self.action_detail.get("secrets") {
            secret::check(secrets, call.arguments)?;
        }
        match self.action_detail.get("occurrence") {
            None => Ok(()),
            Some(Value::String(name)) if Name::is_normal(name) => Ok(()),
            Some(Value::String(_)) => Err(
                "its occurrence is not normalized, so a different text could look the same; set \
                 it with `Contract::occurrence`",
            ),
            Some(_) => Err("its occurrence is not a string"),
        }
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
        let detail = canonical_whole_object(&self.action_detail);
        Digest::of(&[self.action_type.to_string().as_bytes(), detail.as_bytes()])
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

impl From<String> for ActionType {
    fn from(text: String) -> Self {
        match &*text {
            "tool_call" => Self::ToolCall,
            "ecs_request" => Self::EcsRequest,
            _ => Self::Other(text),
        }
    }
}

impl From<ActionType> for String {
    fn from(action_type: ActionType) -> Self {
        action_type.to_string()
    }
}
