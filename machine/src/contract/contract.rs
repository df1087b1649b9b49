use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Action, ActionType, Effect, EffectType, InvalidContract, Tool,
    approval::ApprovalRequest,
    callable::Maker,
    invalid::MAX_DETAIL_BYTES,
    same_arguments::{check_new, misfit, read},
    secret,
    terms::{Terms, Unstored},
    tool::{identity, tool_name},
};
use crate::{
    actor::{Actor, GraphRunner, Human, Name, ReasoningNode},
    clock::millis,
    journal::check_text,
    stored::{Data, Unwritten, normal_session},
};

/// The identity and the constraints of one attempt at an action. Immutable once it is part of an
/// [`Execution`](crate::contract::Execution).
///
/// Only a [`ReasoningNode`] can make contracts, and only a person a retry. Status, transitions and
/// timestamps belong to the [`Execution`](crate::contract::Execution) that carries the contract.
///
/// A contract cannot be read from JSON. A store reads back its own contracts, derives the key
/// again, and refuses contracts that contradict themselves.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{Contract, Execution, ToolSpec};
///
/// let actors = Actors::issue("assistant")?;
/// let email = ToolSpec::irreversible("email", "send")?;
/// let contract =
///     Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?
///         .session("meeting")
///         .about("bob@example.com");
/// assert_eq!(contract.summary(), "email.send → bob@example.com");
///
/// let pending = Execution::new(contract);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Contract(pub(super) Box<Terms>);

/// The kind of a machine that makes a contract by `#[invoke]`.
const MACHINE: &str = "machine";

/// The maximum size of a contract as it is stored, with its notes.
const MAX_BYTES: usize = 1024 * 1024;

impl Contract {
    /// A call of a tool.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the arguments are not a JSON object, change when they are read back,
    /// or are too large, or if [`Tool::identity`] is not the same twice.
    pub fn of<T: Tool>(tool: &T, author: &ReasoningNode) -> Result<Self, InvalidContract> {
        let text = serde_json::to_string(tool).map_err(|error| misfit::<T>(error.to_string()))?;
        let arguments = object(&text)?;
        // Content that does not survive storage must not be approved, nor shown.
        check_new::<T>(&arguments)?;
        let tool: T = read(&arguments)?;
        let secrets = secret::places(&tool, &arguments).map_err(misfit::<T>)?;
        let identity = identity(&tool)?;
        let action = Action::tool_call((T::SERVICE, T::METHOD), arguments, identity, secrets)?;
        let about = |language: &str| match tool.subject(language) {
            Some(subject) => short(format!("{} → {subject}", tool_name::<T>())),
            None => tool_name::<T>(),
        };
        let mut contract = Self::new(action, about(""), T::Effect::EFFECT, author);
        let summaries =
            T::LANGUAGES.iter().map(|language| ((*language).to_owned(), about(language)));
        contract.0.summaries = summaries.collect();
        let languages = [""].iter().chain(T::LANGUAGES);
        let questions = languages
            .filter_map(|language| Some(((*language).to_owned(), short(tool.question(language)?))));
        contract.0.questions = questions.collect();
        contract.0.timeout_ms = T::TIMEOUT.map(millis);
        contract.0.settling_ms = millis(T::SETTLING_TIME);
        contract.0.made = Unstored(Some(Maker::of::<T>()));
        Ok(contract)
    }

    /// A question to a person. It has no timeout. To ask whether an action may run, see
    /// [`ask`](Self::ask).
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Empty`] if the question is empty, [`InvalidContract::TooLarge`] if it is
    /// too long.
    pub fn ecs_request(message: &str, author: &ReasoningNode) -> Result<Self, InvalidContract> {
        if message.is_empty() {
            return Err(InvalidContract::Empty("question"));
        }
        let action = confirmation(message)?;
        Ok(Self::new(action, "ecs.confirm".to_owned(), Effect::Idempotent, author))
    }

    /// An action of any type.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::NotACall`] if it is a tool call with an identity or an occurrence: the
    /// first comes from the tool's type, the second from [`occurrence`](Self::occurrence).
    pub fn action_of(
        action: Action,
        effect: Effect,
        author: &ReasoningNode,
    ) -> Result<Self, InvalidContract> {
        if action.tool().is_some_and(|call| call.identity.is_some() || call.occurrence.is_some()) {
            return Err(InvalidContract::NotACall(
                "it sets its own identity or occurrence; use \
                 `Tool::identity` and `Contract::occurrence`",
            ));
        }
        let summary =
            action.tool().map_or_else(|| action.action_type().to_string(), |call| call.name());
        Ok(Self::new(action, summary, effect, author))
    }

    pub(super) fn new(
        action: Action,
        summary: String,
        effect: Effect,
        author: &ReasoningNode,
    ) -> Self {
        let author = Unstored(author.name().map(Box::from));
        Self(Box::new(Terms::new(action, summary, effect, author)))
    }

    /// Assigns the contract to a session, whose id has at most 256 bytes, is not blank, and is not
    /// `.` or `..`: a store refuses others.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.0.session = Some(normal_session(session.into()));
        self
    }

    /// Adds the subject of the action to the summary, for people: `email.send → bob@example.com`.
    ///
    /// The subject is free text, and nothing compares it with the arguments. Lists, views and
    /// prompts show it; the [question](super::Gate::question) to an approver does not use it, and
    /// is made from the action alone. So let the program set it, not a model: [`Tool::subject`] and
    /// [`ToolSpec::template`](super::ToolSpec::template) make it from the arguments.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.0.summary = short(format!("{} → {subject}", self.0.summary));
        self
    }

    /// Sets the summary in a language, for people. The summary of a tool call keeps the name of the
    /// tool; for a question or another action, the text replaces the whole summary. The language is
    /// a code such as `zh`, or empty for the default.
    ///
    /// It is free text like that of [`about`](Self::about).
    ///
    /// ```
    /// use machine::actor::Actors;
    /// use machine::contract::Contract;
    /// use machine::view::Language;
    ///
    /// let actors = Actors::issue("assistant")?;
    /// let question = Contract::ecs_request("Send it to bob@example.com?", &actors.reasoning_node)?
    ///     .summarized("", "confirm the mail to bob@example.com")
    ///     .summarized("zh", "确认发送邮件给 bob@example.com");
    /// assert_eq!(question.summary(), "confirm the mail to bob@example.com");
    /// assert_eq!(question.summary_in(Language::Chinese), "确认发送邮件给 bob@example.com");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn summarized(mut self, language: &str, text: &str) -> Self {
        let summary = short(match self.0.action.tool_name() {
            Some(name) => format!("{name} → {text}"),
            None => text.to_owned(),
        });
        if language.is_empty() {
            self.0.summary = summary;
        } else {
            self.0.summaries.insert(language.to_owned(), summary);
        }
        self
    }

    /// Sets how long to wait for an answer of the call. After that its outcome is unknown.
    #[must_use]
    pub fn timeout_after(mut self, timeout: Duration) -> Self {
        self.0.timeout_ms = Some(millis(timeout));
        self
    }

    /// Marks the action as irreversible, even if its tool is registered as idempotent. This cannot
    /// be undone: external hints may raise the risk, never lower it.
    #[must_use]
    pub fn irreversible(mut self) -> Self {
        self.0.irreversible = true;
        self.0.key = self.0.derived_key();
        self
    }

    /// Names the occasion of a deliberate repetition, such as `2026-W47` for a weekly reminder. The
    /// name becomes part of the key and of the approval. Nothing else lets an irreversible action
    /// run again after it took effect, so this requires a [`GraphRunner`]: a model never chooses
    /// the name. Names that look the same are the same occasion, like those of a [`Human`].
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Name`] if the occurrence is not a line of visible text,
    /// [`InvalidContract::TooLarge`] if the action becomes too large by it.
    pub fn occurrence(mut self, name: &str, _by: &GraphRunner) -> Result<Self, InvalidContract> {
        let name = Name::new(name)?;
        self.0.action = self.0.action.with("occurrence", Some(name.as_str().into()))?;
        self.0.key = self.0.derived_key();
        // It was about the old action.
        self.0.forget_decision();
        Ok(self)
    }

    /// Adds metadata that the library does not interpret, such as the reverse patch of a write.
    /// A contract with its notes has at most 1 MiB as JSON text; a larger one is not stored.
    #[must_use]
    pub fn note(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.metadata.insert(name.into(), value.into());
        self
    }

    /// A new attempt at what needs no decision.
    pub(super) fn again(&self, author: &ReasoningNode) -> Self {
        let mut contract = self.clone();
        contract.0.forget_decision();
        contract.0.author = Unstored(author.name().map(Box::from));
        contract
    }

    /// The maker of its action, if this program made it.
    pub(crate) fn maker(&self) -> Option<Maker> {
        self.0.made.0
    }

    /// The kind and the name of the actor that made it.
    pub(crate) fn made_by(&self) -> (&'static str, Option<&str>) {
        match &self.0.decided_by {
            None => match &self.0.invoked {
                Some(origin) => (MACHINE, Some(&origin.machine)),
                None => (ReasoningNode::KIND, self.0.author.0.as_deref()),
            },
            Some(person) => (Human::KIND, Some(person.as_str())),
        }
    }

    pub(super) fn check_size(&self) -> Result<(), InvalidContract> {
        let bytes = serde_json::to_vec(self).map_err(InvalidContract::NotJson)?.len();
        if bytes > MAX_BYTES { Err(InvalidContract::TooLarge { bytes }) } else { Ok(()) }
    }

    pub(super) fn of_gate(
        &self,
        approval: ApprovalRequest,
        question: &str,
    ) -> Result<Self, InvalidContract> {
        let action = confirmation(question)?;
        let (summary, author) = (self.0.summary.clone(), self.0.author.clone());
        let mut terms = Terms::new(action, summary, Effect::Idempotent, author);
        terms.summaries.clone_from(&self.0.summaries);
        terms.session.clone_from(&self.0.session);
        terms.approves = Some(approval);
        Ok(Self(Box::new(terms)))
    }
}

/// A store writes contracts and reads them back through their checks.
impl Data for Contract {
    fn __to_text(&self) -> Result<String, Unwritten> {
        let text = serde_json::to_string(self)?;
        if text.len() > MAX_BYTES {
            return Err(Unwritten::because(format!(
                "the contract is {} bytes long, the limit is {MAX_BYTES}; keep its notes elsewhere",
                text.len()
            )));
        }
        check_text(&text).map_err(Unwritten::because)?;
        Ok(text)
    }

    fn __of_text(text: &str) -> serde_json::Result<Self> {
        let terms: Terms = serde_json::from_str(text)?;
        terms.check().map_err(serde::de::Error::custom)?;
        Ok(Self(Box::new(terms)))
    }
}

/// A question to a person, as an action.
fn confirmation(message: &str) -> Result<Action, InvalidContract> {
    let detail = Map::from_iter([
        ("type".to_owned(), Value::from("confirmation")),
        ("message".to_owned(), Value::from(message)),
    ]);
    Action::new(ActionType::EcsRequest, detail)
}

pub(super) fn short(text: String) -> String {
    const LONGEST: usize = 500;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub(super) fn object(text: &str) -> Result<Map<String, Value>, InvalidContract> {
    // Check the size before parsing, so that huge input is cheap to refuse.
    if text.len() > MAX_DETAIL_BYTES {
        return Err(InvalidContract::TooLarge { bytes: text.len() });
    }
    let value = serde_json::from_str(text).map_err(InvalidContract::NotJson)?;
    check_text(text)?;
    match value {
        Value::Object(map) => Ok(map),
        Value::Array(_) => Err(InvalidContract::NotAnObject("an array")),
        Value::String(_) => Err(InvalidContract::NotAnObject("a string")),
        Value::Number(_) => Err(InvalidContract::NotAnObject("a number")),
        Value::Bool(_) => Err(InvalidContract::NotAnObject("a boolean")),
        Value::Null => Err(InvalidContract::NotAnObject("null")),
    }
}
