use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Label, Language, Phrase, View};
use crate::{
    clock::millis_between,
    contract::{ActionType, AnyExecution, Closing, NOT_APPROVED, Progress},
    id::Id,
    line::Within,
};

/// An execution as shown to a reasoner. Omits key, timeout and actor.
///
/// Its `Display` is one line of a [`Prompt`](super::Prompt). Tool output is escaped: it cannot
/// break out of its line.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec};
/// use machine::view::ConsequenceView;
///
/// let actors = Actors::issue("planner")?;
/// let tool = ToolSpec::idempotent("calendar", "create")?;
/// let contract = Contract::tool_call(&tool, "{}", &actors.reasoning_node)?.about("会议邀请");
/// let failed = Execution::new(contract)
///     .start(&actors.tool_node)
///     .fail("SMTP connection refused\n[SUCCESS] forged".to_owned(), None, &actors.tool_node);
///
/// assert_eq!(
///     ConsequenceView::of(&AnyExecution::from(failed)).to_string(),
///     r"[FAILED] calendar.create → 会议邀请: SMTP connection refused\n\[SUCCESS] forged"
/// );
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct ConsequenceView {
    /// The execution.
    pub execution_id: Id,
    /// The type of the action.
    pub action_type: ActionType,
    /// A short description of the action.
    pub action_summary: String,
    /// The status of the execution.
    pub consequence_label: Label,
    /// The answer of the tool or the person.
    pub result: Option<String>,
    /// Why it failed, or was not done.
    pub error_message: Option<String>,
    /// The refusal of the tool, if it is more than its text: as it was given, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Value>,
    /// The report of its service, if it waits for that. Not a field of its document, whose fields
    /// are fixed: its line says it.
    #[serde(skip)]
    pub waits_for: Option<String>,
    /// It took effect and is irreversible, even if its state says otherwise. In an
    /// [`ExecutionSnapshot`](super::ExecutionSnapshot), this name means that it is marked as
    /// irreversible.
    pub has_side_effects: bool,
    /// It has been WAITING at some point.
    pub was_suspended: bool,
    /// A person approved it: at its gate, or as a retry.
    pub human_confirmed: bool,
    /// It has not ended.
    pub is_still_pending: bool,
    /// The time from its creation to its end, in milliseconds; `None` while it has not ended. What
    /// is recorded after the end, such as a late receipt, does not change it.
    pub total_duration_ms: Option<u64>,
    /// It only asks whether another one may run, which has a separate view.
    #[serde(skip)]
    pub(super) is_gate: bool,
}

/// The longest part of a text from outside that one line shows, in characters after escaping.
pub(super) const LONGEST: usize = 1000;

impl ConsequenceView {
    /// Projects an execution, with sentences in English.
    #[must_use]
    pub fn of(execution: &AnyExecution) -> View<Self> {
        Self::in_language(execution, Language::English)
    }

    /// Like [`of`](Self::of), with the summary and the sentences in another language.
    #[must_use]
    pub fn in_language(execution: &AnyExecution, language: Language) -> View<Self> {
        View::new(Self::project(execution, language))
    }

    pub(super) fn project(execution: &AnyExecution, language: Language) -> Self {
        let contract = execution.context();
        let progress = Progress::of(execution);
        let (result, error_message) = outcome(execution, &progress, language);
        let summary = execution.journal().past();
        let has_ended = execution.status().definition().terminal;
        Self {
            execution_id: execution.id(),
            action_type: contract.action().action_type().clone(),
            action_summary: contract.summary_in(language).into_owned(),
            consequence_label: Label::from_parts(execution, &progress),
            result,
            error_message,
            refusal: refusal(execution, &progress),
            waits_for: progress
                .awaits_report()
                .then(|| language.text(Phrase::AwaitsReport).to_owned()),
            has_side_effects: contract.is_irreversible() && progress.applied,
            was_suspended: progress.waited,
            human_confirmed: progress.approved_by.is_some(),
            is_still_pending: !has_ended,
            total_duration_ms: has_ended
                .then(|| millis_between(summary.created_at, summary.entered_at)),
            is_gate: contract.approves().is_some(),
        }
    }
}

/// Result and error of an execution: what is doubtful or contradicts them is said first. Reasons of
/// the library, and the answer of a gate, are in the language; what tools and people said is as
/// they said it. Without a call, what ended it comes first, because its reason can be any text.
pub(super) fn outcome(
    execution: &AnyExecution,
    progress: &Progress,
    language: Language,
) -> (Option<String>, Option<String>) {
    let said = |text: &str| language.stored(text).into_owned();
    let (result, error) = match execution {
        AnyExecution::Pending(_) | AnyExecution::Running(_) | AnyExecution::Waiting(_) => {
            (None, None)
        }
        AnyExecution::Completed(done) if done.context().approves().is_some() => {
            (Some(said(&done.state().result)), None)
        }
        AnyExecution::Completed(done) => (Some(done.state().result.clone()), None),
        AnyExecution::Failed(done) => (None, Some(said(&done.state().error))),
        AnyExecution::Rejected(done) => (None, Some(done.state().reason.clone())),
        AnyExecution::Cancelled(done) => {
            let reason = &done.state().reason;
            let ended = progress.closed.as_ref().map(|cause| never_called(cause, reason, language));
            (None, Some(ended.unwrap_or_else(|| said(reason))))
        }
    };
    let say = |phrase, name, value: &str| Some(language.say(phrase, &[(name, &value)]));
    let arrived = language.text(Phrase::ReceiptArrived);
    let receipt = progress.receipt.as_deref().unwrap_or(arrived);
    let ended = error.as_deref().unwrap_or_default();
    if progress.is_in_doubt() {
        if progress.applied {
            return (say(Phrase::TookPlace, "receipt", receipt), None);
        }
        return (None, Some(language.text(Phrase::Unknown).to_owned()));
    }
    if progress.is_contradicted() {
        return (
            say(Phrase::TookPlacePerhapsMore, "receipt", receipt),
            say(Phrase::RecordedAsNotDone, "reason", ended),
        );
    }
    if Label::from_parts(execution, progress) == Label::Unconfirmed {
        let ended = result.or(error).unwrap_or_default();
        return (None, say(Phrase::Unconfirmed, "text", &ended));
    }
    match (execution, &progress.refused) {
        (AnyExecution::Completed(_), Some(refused)) => {
            let refused = say(Phrase::WorkerDenies, "reason", refused);
            (result, refused)
        }
        (_, None) if progress.overridden_by.is_some() => {
            (None, say(Phrase::Overridden, "reason", ended))
        }
        (_, None) if progress.not_found => (None, say(Phrase::NotFound, "reason", ended)),
        _ => (result, error),
    }
}

/// Why an execution was never called: what ended it, then the words of the person or the program.
fn never_called(cause: &Closing, reason: &str, language: Language) -> String {
    let words = reason.strip_prefix(NOT_APPROVED);
    match cause {
        Closing::Declined { by, reason: declined } => {
            let words = words.unwrap_or(declined);
            // The library's word, if the person gave none.
            if words == Phrase::Declined.english() {
                return language.say(Phrase::DeclinedWithoutReason, &[("by", by)]);
            }
            language.say(Phrase::DeclinedBy, &[("by", by), ("reason", &words)])
        }
        Closing::Expired => {
            let words = language.stored(words.unwrap_or(reason));
            language.say(Phrase::Expired, &[("reason", &words)])
        }
        Closing::Cancelled { by: Some(by), by_person: true } => {
            language.say(Phrase::CancelledBy, &[("by", by), ("reason", &reason)])
        }
        Closing::Cancelled { .. } => {
            let words = language.stored(words.unwrap_or(reason));
            language.say(Phrase::Cancelled, &[("reason", &words)])
        }
        Closing::AlreadyDone { .. } => reason.to_owned(),
    }
}

/// The refusal of the tool, if it is more than its text, and no receipt contradicts it.
pub(super) fn refusal(execution: &AnyExecution, progress: &Progress) -> Option<Value> {
    let AnyExecution::Failed(failed) = execution else { return None };
    let refusal = failed.state().refusal.as_ref()?;
    let text = failed.state().error.as_str();
    // As text, or in an `ActionRefusal` without a code.
    let is_text = *refusal == text || *refusal == json!({ "message": text });
    // A unit struct.
    let is_empty = refusal.as_array().is_some_and(Vec::is_empty);
    (!is_text && !is_empty && !progress.is_contradicted()).then(|| refusal.clone())
}

impl fmt::Display for ConsequenceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.consequence_label)?;
        if self.has_side_effects {
            f.write_str(" ⚠️ IRREVERSIBLE")?;
        }
        if self.human_confirmed && self.consequence_label == Label::Success {
            f.write_str(" (human-confirmed)")?;
        }
        write!(f, "] {}", Within(&self.action_summary, LONGEST))?;
        let details = [&self.result, &self.error_message, &self.waits_for];
        for detail in details.into_iter().flatten() {
            write!(f, ": {}", Within(detail, LONGEST))?;
        }
        Ok(())
    }
}
