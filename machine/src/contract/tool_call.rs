use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Action, ActionRefusal, Callable, Contract, Effect, InvalidContract, ToolSpec,
    callable::sealed::Sealed,
    contract::{object, short},
    secret,
    tool_spec::filled,
};
use crate::{actor::ReasoningNode, clock::millis};

/// A call of a tool that is known only at run time, as data: a state can hold it in a field, and
/// make it by `#[invoke]`. It takes the effect, the limits, and the texts for people from the
/// [`ToolSpec`] of the tool.
///
/// A [`Registry`](super::Registry) makes calls whose arguments match the schema of the tool, and
/// checks the arguments again before a call begins.
///
/// ```
/// use machine::{actor::GraphRunner, contract::{Outcome, ToolCall, ToolSpec}, machine};
/// use serde::{Deserialize, Serialize};
///
/// /// The step of an agent.
/// #[machine(durable)]
/// #[derive(Debug, Serialize, Deserialize)]
/// pub enum Step {
///     #[initial]
///     #[on(execute(call) => Executing, by = GraphRunner)]
///     Planned,
///     #[invoke(call, unattended)]
///     #[on(end(outcome) => Ended, by = GraphRunner)]
///     Executing { call: ToolCall },
///     #[terminal]
///     Ended { outcome: Outcome<ToolCall> },
/// }
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let read = ToolSpec::idempotent("files", "read")?.template("", "{path}");
///     let call = ToolCall::new(&read, r#"{"path": "notes.txt"}"#)?;
///     assert_eq!(call.summary(), "files.read → notes.txt");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    action: Action,
    effect: Effect,
    summary: String,
    /// By language.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    summaries: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    questions: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    settling_ms: u64,
    /// Each call by a state is an occurrence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) per_call: bool,
}

impl ToolCall {
    /// A call with its arguments as a JSON object, such as a model writes them.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the arguments are not valid JSON, not an object, or too large.
    pub fn new(tool: &ToolSpec, arguments: &str) -> Result<Self, InvalidContract> {
        let arguments = object(arguments)?;
        let secrets: Vec<String> = tool
            .secrets
            .iter()
            .filter(|name| arguments.contains_key(*name))
            .map(|name| secret::pointer(name))
            .collect();
        let (mut subjects, questions) = {
            let shown = secret::with_digests(&arguments, &secrets);
            (filled(&tool.templates, &shown), filled(&tool.questions, &shown))
        };
        let names = (&*tool.service, &*tool.method);
        let about = |subject: String| short(format!("{} → {subject}", tool.name()));
        Ok(Self {
            action: Action::tool_call(names, arguments, None, secrets)?,
            effect: tool.effect,
            summary: subjects.remove("").map_or_else(|| tool.name(), about),
            summaries: subjects.into_iter().map(|(key, subject)| (key, about(subject))).collect(),
            questions: questions.into_iter().map(|(key, text)| (key, short(text))).collect(),
            timeout_ms: tool.timeout.map(millis),
            settling_ms: millis(tool.settling_time),
            per_call: tool.per_call,
        })
    }

    /// The contract of the call.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::NotACall`] if it was read from JSON, and sets an identity or an
    /// occurrence.
    pub fn contract(&self, author: &ReasoningNode) -> Result<Contract, InvalidContract> {
        let mut contract = Contract::action_of(self.action.clone(), self.effect, author)?;
        let terms = &mut contract.0;
        terms.summary.clone_from(&self.summary);
        terms.summaries.clone_from(&self.summaries);
        terms.questions.clone_from(&self.questions);
        (terms.timeout_ms, terms.settling_ms) = (self.timeout_ms, self.settling_ms);
        Ok(contract)
    }

    /// The action: the tool, and the arguments.
    #[must_use]
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// The effect of the call on the outside world.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// A short description, for people.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }
}

impl Contract {
    /// A call of a tool that is known at run time only, with its arguments as a JSON object.
    ///
    /// A [`Registry`](super::Registry) also checks the arguments against the tool's JSON Schema.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the arguments are not valid JSON, not an object, or too large.
    pub fn tool_call(
        tool: &ToolSpec,
        arguments: &str,
        author: &ReasoningNode,
    ) -> Result<Self, InvalidContract> {
        ToolCall::new(tool, arguments)?.contract(author)
    }
}

impl Sealed for ToolCall {}

impl Callable for ToolCall {
    type Receipt = String;
    type Refusal = ActionRefusal;

    fn __refusal(data: &Value, text: &str) -> serde_json::Result<ActionRefusal> {
        Action::__refusal(data, text)
    }

    /// Without what only its [`ToolSpec`] says.
    fn __read(action: &Action, effect: Effect) -> Result<Self, InvalidContract> {
        let Some(summary) = action.tool_name() else {
            let expected = "a tool".to_owned();
            let found = format!("an action of the type `{}`", action.action_type());
            return Err(InvalidContract::OtherTool { expected, found });
        };
        Ok(Self {
            action: action.clone(),
            effect,
            summary,
            summaries: BTreeMap::new(),
            questions: BTreeMap::new(),
            timeout_ms: None,
            settling_ms: 0,
            per_call: false,
        })
    }
}
