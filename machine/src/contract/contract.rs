use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Action, ActionType, AnyExecution, ApprovalEnd, Decider, Decides, Effect, EffectType, Execution,
    IdempotencyKey, InvalidContract, Progress, Tool, ToolSpec,
    gate::Approval,
    identity::{Maker, identity},
    rollback::Rollback,
    secret,
    terms::{Author, Made, Terms},
    tool::filled,
    wording::{Extent, Wording},
};
use crate::{
    actor::{Actor, GraphRunner, Human, Name, ReasoningNode},
    id::Id,
    journal::check_text,
    language::{Language, Phrase},
    stored::{Data, Durable},
    typed::{State, Terminal},
};

/// The identity and the constraints of one attempt at an action. Immutable once it is part of an
/// [`Execution`].
///
/// Only a [`ReasoningNode`] can make contracts, and only a person or a policy a retry. Status,
/// transitions and timestamps belong to the [`Execution`] that carries the contract.
///
/// A contract cannot be read from JSON. A store reads its own back, derives the key again, and refuses
/// one that contradicts itself.
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
pub struct Contract(Box<Terms>);

impl Contract {
    /// The maximum size of a contract as it is stored, with its notes: 1 MiB.
    pub const MAX_BYTES: usize = 1024 * 1024;

    /// A call of a tool.
    ///
    /// # Errors
    ///
    /// [`InvalidContract`] if the arguments are no JSON object, change when they are read back, or are too
    /// large, or if [`Tool::identity`] is not the same twice.
    pub fn of<T: Tool>(tool: &T, author: &ReasoningNode) -> Result<Self, InvalidContract> {
        let name = || format!("{}.{}", T::SERVICE, T::METHOD);
        let misfit = |reason: String| InvalidContract::Arguments { tool: name(), reason };
        let text = serde_json::to_string(tool).map_err(|error| misfit(error.to_string()))?;
        let arguments = object(&text)?;
        // Content that does not survive storage must not be approved, nor shown.
        let tool: T = serde_json::from_str(&text).map_err(|error| misfit(error.to_string()))?;
        if !is_read_back::<T>(&text, &arguments).map_err(|error| misfit(error.to_string()))? {
            return Err(misfit(
                "they change when they are read back, so that other arguments would run than those \
                 that are approved; make `Serialize` and `Deserialize` agree, and use collections with \
                 an order"
                    .to_owned(),
            ));
        }
        let secrets = secret::places(&tool, &arguments).map_err(misfit)?;
        let identity = identity(&tool)?;
        let action = Action::tool_call((T::SERVICE, T::METHOD), arguments, identity, secrets)?;
        let about = |language: &str| match tool.subject(language) {
            Some(subject) => short(format!("{} → {subject}", name())),
            None => name(),
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
        contract.0.made = Made(Some(Maker::of::<T>()));
        Ok(contract)
    }

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
        let arguments = object(arguments)?;
        let secrets: Vec<String> = tool
            .secrets
            .iter()
            .filter(|name| arguments.contains_key(*name))
            .map(|name| secret::pointer(name))
            .collect();
        let (mut subjects, questions) = {
            let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
            let shown = secret::with_digests(&arguments, &secrets);
            (filled(&tool.templates, &shown), filled(&tool.questions, &shown))
        };
        let names = (&*tool.service, &*tool.method);
        let action = Action::tool_call(names, arguments, None, secrets)?;
        let about = |subject: String| short(format!("{} → {subject}", tool.name()));
        let summary = subjects.remove("").map_or_else(|| tool.name(), about);
        let mut contract = Self::new(action, summary, tool.effect, author);
        contract.0.summaries =
            subjects.into_iter().map(|(language, subject)| (language, about(subject))).collect();
        contract.0.questions =
            questions.into_iter().map(|(language, question)| (language, short(question))).collect();
        contract.0.timeout_ms = tool.timeout.map(millis);
        contract.0.settling_ms = millis(tool.settling_time);
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
        let detail = Map::from_iter([
            ("type".to_owned(), Value::from("confirmation")),
            ("message".to_owned(), Value::from(message)),
        ]);
        let action = Action::new(ActionType::EcsRequest, detail)?;
        Ok(Self::new(action, "ecs.confirm".to_owned(), Effect::Idempotent, author))
    }

    /// An action of any type.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::NotACall`] if it is a tool call with an identity or an occurrence: the first
    /// comes from the tool's type, the second from [`occurrence`](Self::occurrence).
    pub fn action_of(
        action: Action,
        effect: Effect,
        author: &ReasoningNode,
    ) -> Result<Self, InvalidContract> {
        if action.tool().is_some_and(|call| call.identity.is_some() || call.occurrence.is_some()) {
            return Err(InvalidContract::NotACall(
                "it chooses its identity or its occurrence; `Tool::identity` and \
                 `Contract::occurrence` set them",
            ));
        }
        let summary =
            action.tool().map_or_else(|| action.action_type().to_string(), |call| call.name());
        Ok(Self::new(action, summary, effect, author))
    }

    /// A new attempt at the action of an execution that ended: same key, new execution. A
    /// person decides it, or a [`Policy`](super::Policy) that says so, and that is recorded as its
    /// approval. It is for one execution: another one with a copy of this contract has the same id,
    /// and a store refuses it. A policy can repeat what a person approved and what then failed, until
    /// that approval [ends](Self::approval_end), but not what was declined, or took effect. A store
    /// refuses to retry an irreversible action that took effect. A new attempt at what a child did has to be a
    /// child of the same machine, which would not see it otherwise.
    ///
    /// ```
    /// use machine::actor::Human;
    /// use machine::contract::{Contract, Execution, execution::Failed};
    ///
    /// fn once_more(failed: &Execution<Failed>, ann: &Human) -> Contract {
    ///     Contract::retry(failed, ann)
    /// }
    /// ```
    #[must_use]
    pub fn retry<S>(ended: &Execution<S>, decided_by: &impl Decides) -> Self
    where
        S: Terminal + State<Any = AnyExecution>,
        Execution<S>: Durable,
    {
        let (mut contract, decider) = (ended.context().clone(), decided_by.__decider());
        // An action that a person had to approve is for a policy only if it was approved, and did not take
        // effect: otherwise it stays behind its gate, which is for another execution.
        let progress = Progress::read(ended);
        if decider.is_human() {
            (contract.0.behind, contract.0.approval_end) = (None, None);
        } else if progress.approved_by().is_some() && !progress.is_applied() {
            contract.0.behind = None;
            contract.0.approval_end = progress.approval_end.or(contract.0.approval_end);
        }
        contract.0.retry_of = Some(ended.id());
        contract.0.decided_by = Some(decider);
        contract.0.decided_for = Some(Id::fresh());
        contract
    }

    pub(super) fn new(
        action: Action,
        summary: String,
        effect: Effect,
        author: &ReasoningNode,
    ) -> Self {
        let author = Author(author.name().map(Box::from));
        Self(Box::new(Terms::new(action, summary, effect, author)))
    }

    /// Assigns the contract to a session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.0.session = Some(session.into());
        self
    }

    /// Adds the subject of the action to the summary, for people: `email.send → bob@example.com`.
    ///
    /// It is free text, and nothing compares it with the arguments. It is what lists, views and prompts show;
    /// the [question](super::Gate::question) to an approver does not use it, and is made from the action
    /// alone. So leave it to the program, and not to a model: [`Tool::subject`] and
    /// [`ToolSpec::template`] make it from the arguments.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.0.summary = short(format!("{} → {subject}", self.0.summary));
        self
    }

    /// Sets the summary in a language, for people: of a question or another action that is not a tool call, all
    /// of it; that of a tool call keeps its name. The language is a code such as `zh`, or empty for the default.
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

    /// Names the occasion of a deliberate repetition, such as `2026-W47` for a weekly reminder. It
    /// becomes part of the key and of what is approved. Nothing else lets an irreversible action run
    /// again after it took effect, so it takes a [`GraphRunner`]: a model never chooses it. Names that
    /// look the same are the same occasion, like those of a [`Human`].
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Name`] if the occurrence is not a line of visible text,
    /// [`InvalidContract::TooLarge`] if the action becomes too large by it.
    pub fn occurrence(mut self, name: &str, _by: &GraphRunner) -> Result<Self, InvalidContract> {
        let name = Name::new(name)?;
        let action = self.0.action.on_occasion(name.as_str())?;
        self.0.set_action(action);
        Ok(self)
    }

    /// Records the action that undoes this one, with its effect and its limits. See
    /// [`RollbackPlan`](super::RollbackPlan).
    #[must_use]
    pub fn undone_by(mut self, rollback: &Contract) -> Self {
        self.0.rollback = Some(Rollback {
            action: rollback.0.action.clone(),
            effect: rollback.0.highest_effect(),
            timeout_ms: rollback.0.timeout_ms,
            settling_ms: rollback.0.settling_ms,
        });
        self
    }

    /// Adds metadata that the library does not interpret.
    #[must_use]
    pub fn note(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.metadata.insert(name.into(), value.into());
        self
    }

    /// The action to perform.
    #[must_use]
    pub fn action(&self) -> &Action {
        &self.0.action
    }

    /// A short description of the action, for people.
    #[must_use]
    pub fn summary(&self) -> Cow<'_, str> {
        self.summarize(&self.0.summary, Language::English)
    }

    /// The summary in a language, as far as the tool knows it; otherwise the default.
    #[must_use]
    pub fn summary_in(&self, language: Language) -> Cow<'_, str> {
        let summary = self.0.summaries.get(language.code()).unwrap_or(&self.0.summary);
        self.summarize(summary, language)
    }

    /// A gate has the summary of the action that it asks for.
    /// The action as a question to a person. Long arguments are cut; then its second line names what is hidden.
    #[must_use]
    pub fn question_in(&self, language: Language) -> String {
        Wording::of(self, Extent::Short).text(language)
    }

    /// The question in a language, with all arguments.
    #[must_use]
    pub fn whole_question_in(&self, language: Language) -> String {
        Wording::of(self, Extent::Whole).text(language)
    }

    fn summarize<'a>(&self, summary: &'a str, language: Language) -> Cow<'a, str> {
        match &self.0.approves {
            Some(_) => language.say(Phrase::ApproveSummary, &[("summary", &summary)]).into(),
            None => summary.into(),
        }
    }

    /// The question to an approver in the words of the tool, by language.
    pub(super) fn questions(&self) -> &BTreeMap<String, String> {
        &self.0.questions
    }

    /// The effect that the tool is registered with.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// Returns `true` if the action is irreversible: its tool is, or a hint says so.
    #[must_use]
    pub fn is_irreversible(&self) -> bool {
        self.0.irreversible
    }

    /// The idempotency key. An irreversible action always has one.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.0.key.as_ref()
    }

    /// The time to wait for an answer of the call; `None` means no limit.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout_ms.map(Duration::from_millis)
    }

    /// The time after the end of its worker in which the call can still take effect.
    #[must_use]
    pub fn settling_time(&self) -> Duration {
        Duration::from_millis(self.0.settling_ms)
    }

    /// The session of the contract.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.0.session.as_deref()
    }

    /// The gate that must approve this action before it may run.
    #[must_use]
    pub fn behind(&self) -> Option<Id> {
        self.0.behind
    }

    /// The approval that this contract asks a person for, if it is that of a gate.
    #[must_use]
    pub fn approves(&self) -> Option<&Approval> {
        self.0.approves.as_ref()
    }

    /// The attempt that this one repeats.
    #[must_use]
    pub fn retry_of(&self) -> Option<Id> {
        self.0.retry_of
    }

    /// The decider of this retry.
    #[must_use]
    pub fn decided_by(&self) -> Option<&Decider> {
        self.0.decided_by.as_ref()
    }

    /// The end of the approval under which a policy repeats the action: a store begins it only before.
    #[must_use]
    pub fn approval_end(&self) -> Option<ApprovalEnd> {
        self.0.approval_end
    }

    /// The action that undoes this one.
    #[must_use]
    pub fn rollback(&self) -> Option<&Action> {
        self.0.rollback.as_ref().map(|rollback| &rollback.action)
    }

    pub(super) fn how_to_undo(&self) -> Option<&Rollback> {
        self.0.rollback.as_ref()
    }

    /// Metadata that the library does not interpret.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.0.metadata
    }

    /// The time that a question may wait for an answer.
    pub(crate) fn answer_limit(&self) -> Option<Duration> {
        self.0.approves.as_ref().and_then(Approval::expires_after)
    }

    /// The id of the execution, if it was chosen with the contract.
    pub(super) fn execution_id(&self) -> Option<Id> {
        self.0.approves.as_ref().map(Approval::gate).or(self.0.decided_for)
    }

    /// A new attempt at what needs no decision.
    pub(super) fn again(&self, author: &ReasoningNode) -> Self {
        let mut contract = self.clone();
        contract.0.forget_decision();
        contract.0.author = Author(author.name().map(Box::from));
        contract
    }

    /// The decider as the journal names actors.
    pub(super) fn decided(&self) -> (Option<&str>, Option<&str>) {
        let (kind, name) = self.made_by();
        (Some(kind), name)
    }

    /// Returns the contract with other limits.
    pub(super) fn with_limits(mut self, timeout_ms: Option<u64>, settling_ms: u64) -> Self {
        (self.0.timeout_ms, self.0.settling_ms) = (timeout_ms, settling_ms);
        self
    }

    /// The maker of its action, if this program made it.
    pub(crate) fn maker(&self) -> Option<Maker> {
        self.0.made.0
    }

    /// The kind and the name of the actor that made it.
    pub(crate) fn made_by(&self) -> (&'static str, Option<&str>) {
        match &self.0.decided_by {
            None => (ReasoningNode::KIND, self.0.author.0.as_deref()),
            Some(person) if person.is_human() => (Human::KIND, Some(person.name())),
            Some(policy) => (GraphRunner::KIND, Some(policy.name())),
        }
    }

    /// Returns the contract for an execution behind this gate.
    pub(super) fn put_behind(mut self, gate: Id) -> Self {
        (self.0.behind, self.0.approval_end) = (Some(gate), None);
        self
    }

    /// The contract of the gate.
    pub(super) fn of_gate(
        &self,
        approval: Approval,
        question: &str,
    ) -> Result<Self, InvalidContract> {
        let detail = Map::from_iter([
            ("type".to_owned(), Value::from("confirmation")),
            ("message".to_owned(), Value::from(question)),
        ]);
        let action = Action::new(ActionType::EcsRequest, detail)?;
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
    fn __to_text(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string(self)?;
        if text.len() > Self::MAX_BYTES {
            return Err(serde::ser::Error::custom(format!(
                "the contract is {} bytes long, the limit is {}; keep its notes elsewhere",
                text.len(),
                Self::MAX_BYTES
            )));
        }
        check_text(&text).map_err(serde::ser::Error::custom)?;
        Self::__of_text(&text)?;
        Ok(text)
    }

    fn __of_text(text: &str) -> serde_json::Result<Self> {
        let terms: Terms = serde_json::from_str(text)?;
        terms.check().map_err(serde::de::Error::custom)?;
        Ok(Self(Box::new(terms)))
    }
}

/// A summary that people can read.
fn short(text: String) -> String {
    const LONGEST: usize = 500;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The number of times that arguments with a list are read back: an unordered set of two is written alike in one of
/// two cases.
const READS: usize = 16;

/// Checks that the arguments of a call do not change when they are read and written again.
fn is_read_back<T: Tool>(text: &str, arguments: &Map<String, Value>) -> serde_json::Result<bool> {
    fn has_list(value: &Value) -> bool {
        match value {
            Value::Array(items) => items.len() > 1 || items.iter().any(has_list),
            Value::Object(members) => members.values().any(has_list),
            _ => false,
        }
    }
    let reads = if arguments.values().any(has_list) { READS } else { 1 };
    for _ in 0..reads {
        let tool: T = serde_json::from_str(text)?;
        let again: Value = serde_json::from_str(&serde_json::to_string(&tool)?)?;
        if again.as_object() != Some(arguments) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn object(text: &str) -> Result<Map<String, Value>, InvalidContract> {
    // Check the size before parsing, so that huge input is cheap to refuse.
    if text.len() > Action::MAX_DETAIL_BYTES {
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
