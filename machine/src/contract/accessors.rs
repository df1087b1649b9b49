//! The terms of a contract, as callers read them.

use std::{borrow::Cow, time::Duration};

use serde_json::{Map, Value};

use super::{
    Action, Contract, Effect, IdempotencyKey, Origin,
    approval::ApprovalRequest,
    terms::Terms,
    wording::{Extent, Wording, describe},
};
use crate::{
    id::Id,
    language::{Language, Phrase},
};

impl Contract {
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

    /// The action as a question to a person. Long arguments are cut; the second line then names the
    /// hidden parts.
    #[must_use]
    pub fn question_in(&self, language: Language) -> String {
        self.wording(Extent::Short).text(language)
    }

    /// The question in a language, with all arguments.
    #[must_use]
    pub fn whole_question_in(&self, language: Language) -> String {
        self.wording(Extent::Whole).text(language)
    }

    /// The arguments, each on a line after a line break, and the digest of the action. Long ones
    /// are cut.
    pub(crate) fn arguments_in(&self, language: Language) -> String {
        let mut text = String::new();
        describe(self.action(), Extent::Short, language, &mut text);
        text
    }

    /// The question to an approver, made only from the action and the words of its tool.
    pub(crate) fn wording(&self, extent: Extent) -> Wording {
        let Terms { action, irreversible, questions, .. } = &*self.0;
        Wording::of(action, *irreversible, questions, extent)
    }

    /// A gate has the summary of the action that it asks for.
    fn summarize<'a>(&self, summary: &'a str, language: Language) -> Cow<'a, str> {
        match &self.0.approves {
            Some(_) => language.say(Phrase::ApproveSummary, &[("summary", &summary)]).into(),
            None => summary.into(),
        }
    }

    /// The effect that the tool is registered with.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// Returns `true` if the action is irreversible, by its tool or by a hint.
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

    /// How long the call can still take effect after its worker has ended.
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
    pub(crate) fn approves(&self) -> Option<&ApprovalRequest> {
        self.0.approves.as_ref()
    }

    /// The attempt that this one repeats.
    #[must_use]
    pub fn retry_of(&self) -> Option<Id> {
        self.0.retry_of
    }

    /// The name of the person who decided on this retry.
    #[must_use]
    pub fn decided_by(&self) -> Option<&str> {
        self.0.decided_by.as_deref()
    }

    /// Metadata that the library does not interpret.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.0.metadata
    }

    /// The time that a question may wait for an answer.
    pub(crate) fn answer_limit(&self) -> Option<Duration> {
        self.0.approves.as_ref().and_then(ApprovalRequest::expires_after)
    }

    /// The machine, and its entry, that made the call by `#[invoke]`.
    #[must_use]
    pub fn invoked(&self) -> Option<&Origin> {
        self.0.invoked.as_ref()
    }

    /// The id of the execution, if it was chosen with the contract.
    pub(super) fn execution_id(&self) -> Option<Id> {
        let invoked = || Some(self.0.invoked.as_ref()?.execution);
        let gate = self.0.approves.as_ref().map(|approval| approval.gate);
        gate.or(self.0.decided_for).or_else(invoked)
    }
}
