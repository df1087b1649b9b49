use std::{any::Any, fmt};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    AnyExecution, Callable, Closing, Execution, Progress, execution::Failed, receipt, refusal::read,
};
use crate::{
    id::Id,
    journal::canonical,
    language::{Language, Phrase},
    stored::{OutcomeData, OutcomeReader},
};

/// The outcome of a call that has ended: its receipt, or why there is none.
pub type Outcome<T> = Result<<T as Callable>::Receipt, CallError<<T as Callable>::Refusal>>;

/// Why a call did not take effect. It is generic over the refusal, so that a state can hold it. A
/// call in doubt has no outcome yet.
///
/// ```
/// use machine::contract::CallError;
///
/// let refused = CallError::Refused("the account is closed");
/// assert_eq!(refused.to_string(), "the account is closed");
/// let declined = CallError::<String>::Declined { by: "ann".into(), reason: "too dear".into() };
/// assert_eq!(declined.to_string(), "ann declined it: too dear");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum CallError<N = String> {
    /// The tool refused: provably nothing happened.
    #[error("{0}")]
    Refused(N),
    /// The call was in doubt, for example after a crash, and did not take effect. The service did
    /// not refuse it, and the machine can [make it again](crate::_guide#recipes).
    #[error("{0}")]
    NotApplied(FoundBy<N>),
    /// A person declined the call.
    #[error("{by} declined it: {reason}")]
    Declined {
        by: String,
        /// The reason, at most 200 characters; the gate has all of it.
        reason: String,
    },
    /// The call was not approved in time, or the approval was not used in time.
    #[error("it was not approved in time")]
    Expired,
    /// The call was cancelled before it began, or a person [took
    /// responsibility](crate::store::Store::override_not_applied) for it without proof that it did
    /// not take effect.
    #[error(
        "cancelled{}: {reason}",
        by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default()
    )]
    Cancelled { by: Option<String>, reason: String },
    /// Another execution has performed the same irreversible action.
    #[error("{by} has already performed it")]
    AlreadyDone { by: Id },
    /// Another execution has the key of the action, with other arguments: nothing was called.
    #[error("{by} has the key of this action, with other arguments; it was not called")]
    Differs { by: Id },
    /// The machine's waiting time has passed. The call can still take effect: its outcome follows.
    #[error("{execution} has no outcome yet; it may still take effect")]
    Overdue { execution: Id },
    /// The call gave no receipt and may be repeated: the tool is idempotent, or its call did not
    /// start.
    #[error("{0}")]
    Failed(String),
    /// The call must not be made.
    #[error("{0}")]
    Invalid(String),
}

/// Who found that a call in doubt did not take effect.
///
/// ```
/// use machine::contract::{CallError, FoundBy};
///
/// let not_applied = CallError::NotApplied(FoundBy::Service("no such transfer"));
/// let text = "it was in doubt, and its service says that it did not take effect: no such transfer";
/// assert_eq!(not_applied.to_string(), text);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum FoundBy<N = String> {
    /// Its service, with its answer to [`Perform::find`](super::Perform::find).
    Service(N),
    /// A person, by [`confirm_not_applied`](crate::store::Store::confirm_not_applied).
    Person { by: String, reason: String },
}

impl<N: fmt::Display> fmt::Display for FoundBy<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(answer) => {
                f.write_str(&Language::English.say(Phrase::NotFound, &[("reason", answer)]))
            }
            Self::Person { by, reason } => {
                write!(f, "it was in doubt, and {by} found that it did not take effect: {reason}")
            }
        }
    }
}

/// Reads the outcomes of the calls of a state with this tool.
#[must_use]
pub(crate) fn reader<T: Callable>() -> OutcomeReader {
    OutcomeReader { read: outcome_of::<T>, is: is_outcome_of::<T> }
}

fn outcome_of<T: Callable>(call: &dyn Any) -> serde_json::Result<OutcomeData> {
    let Some(call) = call.downcast_ref::<AnyExecution>() else { return Ok(None) };
    match outcome::<T>(call)? {
        None => Ok(None),
        Some(Ok(receipt)) => Ok(Some(Ok(serde_json::to_value(receipt)?))),
        Some(Err(error)) => Ok(Some(Err(serde_json::to_value(error)?))),
    }
}

/// Compares values of this program's types: an older program may have written them in another way.
fn is_outcome_of<T: Callable>(
    call: &dyn Any,
    other: Result<&Value, &Value>,
) -> serde_json::Result<bool> {
    let Some(actual) = outcome_of::<T>(call)? else { return Ok(false) };
    Ok(match (actual, other) {
        (Ok(actual), Ok(other)) => is_same::<T::Receipt>(&actual, other),
        (Err(actual), Err(other)) => is_same::<CallError<T::Refusal>>(&actual, other),
        _ => false,
    })
}

fn is_same<V: Serialize + DeserializeOwned>(actual: &Value, other: &Value) -> bool {
    // Read from the text, so that numbers are as they are written.
    let other = serde_json::from_str::<V>(&other.to_string()).and_then(serde_json::to_value);
    other.is_ok_and(|other| canonical(&other) == canonical(actual))
}

/// Reads the refusal of the tool of an execution that failed. `None` if the tool did not refuse: a
/// person said that the call was not applied, or an idempotent call got no receipt.
///
/// # Errors
///
/// The error of `serde_json`, if the refusal is of another type, or had more than 1 MiB and was
/// cut.
pub fn refusal<N: DeserializeOwned>(failed: &Execution<Failed>) -> serde_json::Result<Option<N>> {
    failed.state().refusal.as_ref().map(read).transpose()
}

/// Reads the outcome of a call. `None` if it has not ended, or is in doubt.
///
/// # Errors
///
/// The error of `serde_json`, if its receipt or its refusal is of another type, or was cut.
pub fn outcome<T: Callable>(call: &AnyExecution) -> serde_json::Result<Option<Outcome<T>>> {
    let error = match call {
        AnyExecution::Pending(_) | AnyExecution::Running(_) | AnyExecution::Waiting(_) => {
            return Ok(None);
        }
        AnyExecution::Completed(done) => return receipt(done).map(|receipt| Some(Ok(receipt))),
        AnyExecution::Failed(failed) => {
            let reason = || failed.state().error.clone();
            let data = failed.state().refusal.as_ref();
            let refusal = data.map(|data| T::__refusal(data, &failed.state().error)).transpose()?;
            let progress = Progress::of(failed);
            let not_found = progress.not_found;
            match (refusal, progress.denied_by) {
                (Some(answer), _) if not_found => CallError::NotApplied(FoundBy::Service(answer)),
                (Some(refusal), _) => CallError::Refused(refusal),
                (None, Some(by)) if progress.overridden_by.is_none() => {
                    CallError::NotApplied(FoundBy::Person { by, reason: reason() })
                }
                (None, by @ Some(_)) => CallError::Cancelled { by, reason: reason() },
                (None, None) => CallError::Failed(reason()),
            }
        }
        AnyExecution::Rejected(rejected) => CallError::Invalid(rejected.state().reason.clone()),
        AnyExecution::Cancelled(cancelled) => {
            let reason = || cancelled.state().reason.clone();
            match Progress::of(cancelled).closed {
                Some(Closing::Declined { by, reason }) => CallError::Declined { by, reason },
                Some(Closing::Expired) => CallError::Expired,
                Some(Closing::AlreadyDone { by }) => CallError::AlreadyDone { by },
                Some(Closing::Cancelled { by, .. }) => {
                    CallError::Cancelled { by, reason: reason() }
                }
                None => CallError::Cancelled { by: None, reason: reason() },
            }
        }
    };
    Ok(Some(Err(error)))
}
