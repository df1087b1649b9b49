use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Action, ActionType, Execution, IdempotencyKey, InvalidContract, Tool, execution::Pending,
};
use crate::{
    actor::{Actor, ReasoningNode},
    id::Id,
    journal::Digest,
    typed::Terminal,
};

/// The identity and the constraints of one attempt at an action. Immutable (EX-3).
///
/// Only a [`ReasoningNode`] can make contracts (EX-4). Status, transitions and timestamps belong to
/// the [`Execution`] that carries the contract.
///
/// ```
/// use machine::actor::ReasoningNode;
/// use machine::contract::{Contract, Execution, Tool};
///
/// let email = Tool::irreversible("email", "send")?;
/// let contract = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &ReasoningNode)?
///     .session("meeting")
///     .about("bob@example.com");
/// assert_eq!(contract.summary(), "email.send → bob@example.com");
///
/// let pending = Execution::new(contract);
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    action: Action,
    summary: String,
    irreversible: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<IdempotencyKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    behind: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confirms: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_of: Option<Id>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

impl Contract {
    /// A call of `tool`, with its arguments as a JSON object.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the arguments are not valid JSON, not an object, or too large.
    pub fn tool_call(
        tool: &Tool,
        arguments: &str,
        _author: &ReasoningNode,
    ) -> Result<Self, InvalidContract> {
        let Tool { service, method, irreversible, timeout_seconds } = tool;
        let arguments = object(arguments)?;
        let key = IdempotencyKey::derive(service, method, &arguments);
        let detail = Map::from_iter([
            ("service".to_owned(), Value::from(service.as_str())),
            ("method".to_owned(), Value::from(method.as_str())),
            ("args".to_owned(), Value::Object(arguments)),
        ]);
        let action = Action::new(ActionType::ToolCall, detail)?;
        let mut contract = Self::new(action, format!("{service}.{method}"));
        contract.irreversible = *irreversible;
        contract.idempotency_key = Some(key);
        contract.timeout_seconds = Some(*timeout_seconds);
        Ok(contract)
    }

    /// A question to a person. It has no timeout (EX-15).
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if the question is empty, [`InvalidContract::TooLarge`] if it is
    /// too long.
    pub fn ecs_request(message: &str, _author: &ReasoningNode) -> Result<Self, InvalidContract> {
        if message.is_empty() {
            return Err(InvalidContract::Empty("question"));
        }
        let detail = Map::from_iter([
            ("type".to_owned(), Value::from("confirmation")),
            ("message".to_owned(), Value::from(message)),
        ]);
        Ok(Self::new(Action::new(ActionType::EcsRequest, detail)?, "ecs.confirm".to_owned()))
    }

    /// A new attempt at the action of an execution that ended (EX-5): same key, new execution. A
    /// store refuses to retry an irreversible action that COMPLETED.
    ///
    /// The retry does not wait for a confirmation, even if the original did: the caller decides.
    /// Pass it through [`defer`] to ask a person again.
    #[must_use]
    pub fn retry<S: Terminal>(ended: &Execution<S>, _author: &ReasoningNode) -> Self {
        let mut contract = ended.context().clone();
        contract.behind = None;
        contract.retry_of = Some(ended.id());
        contract
    }

    fn new(action: Action, summary: String) -> Self {
        Self {
            action,
            summary,
            irreversible: false,
            idempotency_key: None,
            timeout_seconds: None,
            session: None,
            behind: None,
            confirms: None,
            retry_of: None,
            metadata: Map::new(),
        }
    }

    /// Assigns the contract to a session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Adds the subject of the action to the summary, for people: `email.send → bob@example.com`.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.summary = format!("{} → {subject}", self.summary);
        self
    }

    /// Sets the timeout of the call in seconds. After that its outcome is unknown.
    #[must_use]
    pub fn timeout_seconds(mut self, seconds: u64) -> Self {
        self.timeout_seconds = Some(seconds);
        self
    }

    /// Marks the action as irreversible, even if its tool is registered as idempotent. This cannot
    /// be undone: external hints may raise the risk, never lower it (EX-15).
    #[must_use]
    pub fn irreversible(mut self) -> Self {
        self.irreversible = true;
        self.idempotency_key.get_or_insert_with(|| IdempotencyKey::of(&self.action));
        self
    }

    /// Adds metadata that the library does not interpret.
    #[must_use]
    pub fn note(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// What to do.
    #[must_use]
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// A short description of the action, for people.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Whether the action is irreversible.
    #[must_use]
    pub fn is_irreversible(&self) -> bool {
        self.irreversible
    }

    /// The idempotency key. An irreversible action always has one.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.idempotency_key.as_ref()
    }

    /// The timeout of the call in seconds; `None` means no limit.
    #[must_use]
    pub fn timeout(&self) -> Option<u64> {
        self.timeout_seconds
    }

    /// The session of the contract.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The confirmation that must be COMPLETED before this action may run (EX-9).
    #[must_use]
    pub fn behind(&self) -> Option<Id> {
        self.behind
    }

    /// The digest of the action that this contract asks a person to confirm.
    #[must_use]
    pub fn confirms(&self) -> Option<Digest> {
        self.confirms
    }

    /// The attempt that this one repeats.
    #[must_use]
    pub fn retry_of(&self) -> Option<Id> {
        self.retry_of
    }

    /// Metadata that the library does not interpret.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }
}

/// Defers an action until a person confirms it (EX-9). Returns the gate, which asks the question,
/// and the deferred action.
///
/// The action runs only after the gate is COMPLETED. If the gate is FAILED, REJECTED or CANCELLED,
/// the action never runs. The gate confirms this exact action and no other.
///
/// # Errors
///
/// [`InvalidContract`] if the question is empty or too long.
///
/// ```
/// use machine::actor::ReasoningNode;
/// use machine::contract::{Contract, Tool, defer};
///
/// let email = Tool::irreversible("email", "send")?;
/// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &ReasoningNode)?;
/// let (gate, mail) = defer(mail, "Send the mail to bob@example.com?", &ReasoningNode)?;
/// assert_eq!(mail.context().behind(), Some(gate.id()));
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
pub fn defer(
    mut action: Contract,
    question: &str,
    author: &ReasoningNode,
) -> Result<(Execution<Pending>, Execution<Pending>), InvalidContract> {
    let mut gate = Contract::ecs_request(question, author)?;
    gate.confirms = Some(action.action.digest());
    gate.session.clone_from(&action.session);
    gate.summary = format!("confirm {}", action.summary);
    let gate = Execution::new(gate);
    action.behind = Some(gate.id());
    Ok((gate, Execution::new(action)))
}

impl Contract {
    pub(super) const AUTHOR: &'static str = ReasoningNode::KIND;
}

fn object(text: &str) -> Result<Map<String, Value>, InvalidContract> {
    // Check the size before parsing, so that huge input is cheap to refuse.
    if text.len() > Action::MAX_DETAIL_BYTES {
        return Err(InvalidContract::TooLarge { bytes: text.len() });
    }
    match serde_json::from_str(text).map_err(InvalidContract::NotJson)? {
        Value::Object(map) => Ok(map),
        Value::Array(_) => Err(InvalidContract::NotAnObject("an array")),
        Value::String(_) => Err(InvalidContract::NotAnObject("a string")),
        Value::Number(_) => Err(InvalidContract::NotAnObject("a number")),
        Value::Bool(_) => Err(InvalidContract::NotAnObject("a boolean")),
        Value::Null => Err(InvalidContract::NotAnObject("null")),
    }
}
