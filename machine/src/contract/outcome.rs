use std::{
    any::Any,
    error::Error,
    fmt::{self, Display},
    future::Future,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Accepted, AnyExecution, Evidence, Execution, InDoubt,
    call::BoxFuture,
    execution::{Completed, Failed, Waiting},
    in_flight::{CallHandle, Owner, StillRunning},
};
use crate::language::Phrase;

/// The answer of a service: evidence that the call took effect, or why there is none.
///
/// `?` turns any other error into [`NotDone::Unknown`], because an error alone does not prove that
/// nothing happened.
pub type Answer<R = String> = Result<Applied<R>, NotDone>;

/// The call took effect. The receipt is the response of the remote side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied<R = String>(R);

impl<R> Applied<R> {
    /// The call took effect, with this receipt.
    pub fn new(receipt: impl Into<R>) -> Self {
        Self(receipt.into())
    }
}

/// There is no receipt.
///
/// This type does not implement [`Error`](std::error::Error), so that it can be converted from every
/// type that does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotDone {
    /// The service can prove that nothing happened: the connection was refused, or the remote side
    /// rejected the request before it accepted anything. The key is released.
    NotApplied(String),
    /// The effect may have taken place, and the call has ended. The execution is in doubt until
    /// someone settles it.
    Unknown(String),
    /// The service has accepted the call and reports its outcome later: see
    /// [`Call::accepted`](super::Call::accepted). The execution waits for the report.
    Accepted(Accepted),
    /// The effect may take place yet: something that the call has started is still running, and nothing
    /// tells when it ends. The call counts as alive until its process ends.
    StillRunning(String),
    /// A task of the call failed, or the service has stopped waiting for a part of it: `?` on tokio's
    /// `Elapsed` and `JoinError`, and on a timeout of `std`'s channels. As [`StillRunning`](Self::StillRunning), unless the service is
    /// [confined](super::Perform::CONFINED) to its future.
    CutOff(String),
}

impl NotDone {
    /// Provably nothing happened, for this reason.
    pub fn not_applied(reason: impl Display) -> Self {
        Self::NotApplied(reason.to_string())
    }

    /// It is unknown whether the call took effect, for this reason. The call has ended.
    pub fn unknown(reason: impl Display) -> Self {
        Self::Unknown(reason.to_string())
    }

    /// Something that the call has started may still be running, for this reason, such as a client
    /// that the service no longer waits for.
    pub fn still_running(reason: impl Display) -> Self {
        Self::StillRunning(reason.to_string())
    }
}

impl<E: Error + 'static> From<E> for NotDone {
    fn from(error: E) -> Self {
        let mut reason = error.to_string();
        let mut cut_off = is_given_up(&error);
        let mut cause = error.source();
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cut_off |= is_given_up(error);
            cause = error.source();
        }
        if cut_off { Self::CutOff(reason) } else { Self::Unknown(reason) }
    }
}

/// Returns `true` if an error says that a task has failed or that a wait was given up, so that a part of the call may
/// still be running.
#[cfg(feature = "store")]
fn is_given_up(error: &(dyn Error + 'static)) -> bool {
    use std::io;

    if is_or_holds::<tokio::time::error::Elapsed>(error)
        || is_or_holds::<tokio::task::JoinError>(error)
    {
        return true;
    }
    if let Some(waited) = error.downcast_ref::<std::sync::mpsc::RecvTimeoutError>() {
        return *waited == std::sync::mpsc::RecvTimeoutError::Timeout;
    }
    let Some(error) = error.downcast_ref::<io::Error>() else { return false };
    match error.get_ref() {
        // Its source is that of the error inside, and not the error itself.
        Some(inside) => {
            let mut inside: Option<&(dyn Error + 'static)> = Some(inside);
            std::iter::from_fn(|| {
                let error = inside?;
                inside = error.source();
                Some(error)
            })
            .any(is_given_up)
        }
        // `Elapsed` converts to this; an error of the system has a number, and one of `std` another text.
        None => {
            error.kind() == io::ErrorKind::TimedOut
                && error.raw_os_error().is_none()
                && error.to_string() == io::ErrorKind::TimedOut.to_string()
        }
    }
}

/// A pointer to an error hands on the source of that error, and not the error itself.
#[cfg(feature = "store")]
fn is_or_holds<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    error.is::<E>() || error.is::<Box<E>>() || error.is::<std::sync::Arc<E>>()
}

/// Without a store, nothing is called.
#[cfg(not(feature = "store"))]
fn is_given_up(_: &(dyn Error + 'static)) -> bool {
    false
}

/// The outcome of a call that used up its permit. Pass it to [`Store::settle`].
///
/// [`Store::settle`]: crate::store::Store::settle
#[must_use = "an outcome that is not settled leaves its execution in doubt"]
pub struct Outcome {
    pub(crate) evidence: Evidence,
    /// The service reports later.
    pub(crate) accepted: Option<Accepted>,
    /// The call, if it is still running after its timeout. The lock is never taken: it makes this `Sync`, so
    /// that an error with it can be passed on.
    pub(crate) late: Mutex<Option<BoxFuture<'static, Evidence>>>,
    // Held until the outcome is on disk, and the call has ended.
    pub(crate) handle: CallHandle,
    /// Keeps the store open, so that the outcome can be written even if it is dropped.
    pub(crate) _open: Option<Owner>,
}

impl Outcome {
    /// The evidence about the effect. It is unknown if the service has accepted the call and reports later.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Outcome");
        debug.field("execution_id", &self.handle.execution_id()).field("evidence", &self.evidence);
        debug.finish_non_exhaustive()
    }
}

/// An execution after its call.
#[derive(Debug)]
#[must_use = "it holds the outcome of the action"]
pub enum Settled {
    /// The call took effect. [`receipt`] reads the receipt.
    Completed(Execution<Completed>),
    /// Nothing happened; the key is free for another attempt.
    Failed(Execution<Failed>),
    /// The service has accepted the call. The execution waits for its [report](crate::store::Store::report).
    Accepted(Execution<Waiting>),
    /// Unknown. The execution waits for a person, a status query or a late receipt.
    InDoubt(InDoubt),
    /// Unknown so far: the timeout elapsed, and the call is still running. Spawn the [`LateCall`], so that a
    /// late receipt is recorded.
    TimedOut(InDoubt, LateCall),
    /// The timeout elapsed, the worker was fenced or the service reported in the meantime, and the call is still
    /// running. The execution is returned in its current state. Spawn the [`LateCall`].
    Fenced(Box<AnyExecution>, LateCall),
}

/// A call that is still running after its timeout. Spawn it, or wait for it: it ends when the service has
/// answered and the late evidence is on disk. Its worker counts as alive until then. If it is
/// dropped, the answer is lost.
///
/// The evidence changes no state by itself: [`Store::recover`] settles the execution by it.
///
/// [`Store::recover`]: crate::store::Store::recover
#[must_use = "a late receipt is lost if this is dropped; spawn it"]
pub struct LateCall(pub(crate) BoxFuture<'static, Result<Evidence, Box<dyn Error + Send + Sync>>>);

impl Future for LateCall {
    type Output = Result<Evidence, Box<dyn Error + Send + Sync>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for LateCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateCall").finish_non_exhaustive()
    }
}

/// The maximum size of a receipt or a reason in bytes. What is longer is cut.
pub(crate) const MAX_BYTES: usize = 64 * 1024;

/// An answer as evidence.
pub(crate) struct Answered {
    pub(crate) evidence: Evidence,
    /// Why a part of the call may still be running.
    pub(crate) still_running: Option<StillRunning>,
    /// The service reports later.
    pub(crate) accepted: Option<Accepted>,
}

/// The result of a call whose future has returned.
pub(crate) struct Returned {
    pub(crate) evidence: Evidence,
    pub(crate) accepted: Option<Accepted>,
}

impl From<Evidence> for Returned {
    fn from(evidence: Evidence) -> Self {
        Self { evidence, accepted: None }
    }
}

impl Answered {
    /// The evidence in an answer, or in the panic that came instead.
    pub(crate) fn of<R: Serialize>(answer: Result<Answer<R>, Box<dyn Any + Send>>) -> Self {
        let mut accepted = None;
        let (evidence, still_running) = match answer {
            Ok(Ok(Applied(receipt))) => (Evidence::Applied(text_of(&receipt)), None),
            Ok(Err(NotDone::NotApplied(reason))) => (Evidence::NotApplied(bounded(reason)), None),
            Ok(Err(NotDone::Unknown(reason))) => (Evidence::Unknown(bounded(reason)), None),
            Ok(Err(NotDone::Accepted(later))) => {
                let evidence = Evidence::Unknown(later.to_string());
                accepted = Some(later);
                (evidence, None)
            }
            Ok(Err(NotDone::StillRunning(reason))) => {
                (Evidence::Unknown(bounded(reason)), Some(StillRunning::Declared))
            }
            Ok(Err(NotDone::CutOff(reason))) => {
                (Evidence::Unknown(bounded(reason)), Some(StillRunning::Presumed))
            }
            Err(_) => {
                let reason = Phrase::ServicePanicked.english().to_owned();
                (Evidence::Unknown(reason), Some(StillRunning::Presumed))
            }
        };
        Self { evidence, still_running, accepted }
    }
}

/// A receipt that is a text as it is, any other as JSON. A receipt that cannot be written proves the
/// effect all the same.
fn text_of<R: Serialize>(receipt: &R) -> String {
    // `Serialize` is the user's code.
    let written =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| serde_json::to_value(receipt)));
    bounded(match written {
        Ok(Ok(serde_json::Value::String(text))) => text,
        Ok(Ok(value)) => value.to_string(),
        Ok(Err(error)) => format!("a receipt that cannot be written as JSON: {error}"),
        Err(_) => "a receipt whose `Serialize` panicked".to_owned(),
    })
}

pub(crate) fn bounded(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let bytes = text.len();
        let mut end = MAX_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text = format!("{text}… (cut from {bytes} bytes)");
    }
    text
}

/// Reads the receipt of an execution that took effect.
///
/// # Errors
///
/// The error of `serde_json`, if it is not a receipt of this type.
pub fn receipt<R: Serialize + DeserializeOwned>(
    completed: &Execution<Completed>,
) -> serde_json::Result<R> {
    let text = &completed.state().result;
    // A text such as `5` may be a number, or a text. It is what is written in this way.
    match serde_json::from_str::<R>(text) {
        Ok(receipt) if text_of(&receipt) == *text => Ok(receipt),
        _ => R::deserialize(serde_json::Value::String(text.clone())),
    }
}
