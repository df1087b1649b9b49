use std::fmt;

use serde::Serialize;

use super::{Label, Language, language::Sentence, line::Within, snapshot::millis_between};
use crate::{
    contract::{ActionType, AnyExecution, Progress},
    id::Id,
};

/// An execution as shown to a reasoner. Omits key, timeout and actor.
///
/// Its `Display` is one line of a [`Prompt`](super::Prompt). Tool output is escaped: it cannot break
/// out of its line.
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
///     .fail("SMTP connection refused\n[SUCCESS] forged".to_owned(), &actors.tool_node);
///
/// assert_eq!(
///     ConsequenceView::of(&AnyExecution::from(failed)).to_string(),
///     r"[FAILED] calendar.create → 会议邀请: SMTP connection refused\n\[SUCCESS] forged"
/// );
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is its own fact")]
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
    /// What it waits for, if that is the report of its service. Not a field of its document, whose fields are
    /// fixed: its line says it.
    #[serde(skip)]
    pub waits_for: Option<String>,
    /// It took effect and is irreversible, even if its state says otherwise.
    pub has_side_effects: bool,
    /// It has been WAITING at some point.
    pub was_suspended: bool,
    /// A person approved it: at its gate, or as a retry.
    pub human_confirmed: bool,
    /// It has not ended.
    pub is_still_pending: bool,
    /// The time from its creation to its last journal entry, in milliseconds.
    pub total_duration_ms: u64,
}

/// The longest part of a text from outside that one line shows, in characters after escaping.
const LONGEST: usize = 1000;

impl ConsequenceView {
    /// Projects an execution, with sentences in English.
    #[must_use]
    pub fn of(execution: &AnyExecution) -> Self {
        Self::in_language(execution, Language::English)
    }

    /// The same with the summary and the sentences in another language.
    #[must_use]
    pub fn in_language(execution: &AnyExecution, language: Language) -> Self {
        let contract = execution.context();
        let progress = Progress::of(execution);
        let (result, error_message) = outcome(execution, &progress, language);
        let summary = execution.journal().past();
        Self {
            execution_id: execution.id(),
            action_type: contract.action().action_type().clone(),
            action_summary: contract.summary_in(language.code()).to_owned(),
            consequence_label: Label::from_parts(execution, &progress),
            result,
            error_message,
            waits_for: progress.awaits_report().then(|| language.say(&Sentence::AwaitsReport)),
            has_side_effects: contract.is_irreversible() && progress.is_applied(),
            was_suspended: progress.has_waited(),
            human_confirmed: progress.approved_by().is_some(),
            is_still_pending: !execution.status().definition().terminal,
            total_duration_ms: millis_between(summary.created_at, summary.updated_at),
        }
    }
}

/// Result and error of an execution: what is doubtful or contradicts them is said first.
pub(super) fn outcome(
    execution: &AnyExecution,
    progress: &Progress,
    language: Language,
) -> (Option<String>, Option<String>) {
    let (result, error) = match execution {
        AnyExecution::Pending(_) | AnyExecution::Running(_) | AnyExecution::Waiting(_) => {
            (None, None)
        }
        AnyExecution::Completed(done) => (Some(&done.state().result), None),
        AnyExecution::Failed(done) => (None, Some(&done.state().error)),
        AnyExecution::Rejected(done) => (None, Some(&done.state().reason)),
        AnyExecution::Cancelled(done) => (None, Some(&done.state().reason)),
    };
    let say = |sentence| Some(language.say(&sentence));
    let arrived = language.say(&Sentence::ReceiptArrived);
    let receipt = progress.receipt().unwrap_or(&arrived);
    let ended = error.map(String::as_str).unwrap_or_default();
    if progress.is_in_doubt() {
        if progress.is_applied() {
            return (say(Sentence::TookPlace(receipt)), None);
        }
        return (None, say(Sentence::Unknown));
    }
    if progress.is_contradicted() {
        return (
            say(Sentence::TookPlacePerhapsMore(receipt)),
            say(Sentence::RecordedAsNotDone(ended)),
        );
    }
    if Label::from_parts(execution, progress) == Label::Unconfirmed {
        let ended = result.or(error).map(String::as_str).unwrap_or_default();
        return (None, say(Sentence::Unconfirmed(ended)));
    }
    match (execution, progress.refused()) {
        (AnyExecution::Completed(_), Some(refused)) => {
            (result.cloned(), say(Sentence::WorkerDenies(refused)))
        }
        (_, None) if progress.overridden_by().is_some() => (None, say(Sentence::Overridden(ended))),
        _ => (result.cloned(), error.cloned()),
    }
}

impl fmt::Display for ConsequenceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.consequence_label)?;
        if self.has_side_effects {
            f.write_str(" ⚠️ IRREVERSIBLE")?;
        }
        if self.human_confirmed {
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
