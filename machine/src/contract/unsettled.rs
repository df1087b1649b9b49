use std::{
    error::Error,
    fmt,
    future::Future,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Accepted, AnyExecution, Evidence, Execution, InDoubt,
    execution::{Completed, Failed, Waiting},
    in_flight::CallHandle,
    limits::{MAX_RECEIPT, was_cut},
    permit_check::Owner,
};
use crate::future::BoxFuture;

/// The outcome of a call that used up its permit. Pass it to [`Store::settle`].
///
/// [`Store::settle`]: crate::store::Store::settle
#[must_use = "an outcome that is not settled leaves its execution in doubt"]
pub struct Unsettled {
    pub(crate) evidence: Evidence,
    pub(crate) accepted: Option<Accepted>,
    /// The call, if it is still running after its timeout. The lock is never taken: it makes this
    /// `Sync`, so that an error with it can be passed on.
    pub(crate) late: Mutex<Option<BoxFuture<'static, Evidence>>>,
    // Held until the outcome is on disk, and the call has ended.
    pub(crate) handle: CallHandle,
    /// Keeps the store open, so that the outcome can be written even if it is dropped.
    pub(crate) _open: Option<Owner>,
}

impl Unsettled {
    /// The evidence about the effect. It is unknown if the service has accepted the call and
    /// reports later.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

impl fmt::Debug for Unsettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Unsettled");
        debug.field("execution_id", &self.handle.execution_id).field("evidence", &self.evidence);
        debug.finish_non_exhaustive()
    }
}

/// An execution after its call.
#[derive(Debug)]
#[must_use = "it holds the outcome of the action"]
pub enum Settled {
    /// The call took effect. [`receipt`] reads the receipt.
    Completed(Execution<Completed>),
    /// The call did not take effect; the key is free for another attempt.
    Failed(Execution<Failed>),
    /// The service has accepted the call. The execution waits for its
    /// [report](crate::store::Store::report).
    Accepted(Execution<Waiting>),
    /// The outcome is unknown. The execution waits for a person, a status query or a late receipt.
    InDoubt(InDoubt),
    /// The outcome is unknown so far: the timeout elapsed, and the call is still running. Spawn the
    /// [`LateCall`], so that a late receipt is recorded.
    TimedOut(InDoubt, LateCall),
    /// The timeout elapsed, the worker was fenced or the service reported in the meantime, and the
    /// call is still running. The execution is returned in its current state. Spawn the
    /// [`LateCall`].
    Fenced(Box<AnyExecution>, LateCall),
}

/// A call that is still running after its timeout. Spawn it, or wait for it: it ends when the
/// service has answered and the late evidence is on disk. Its worker counts as alive until then. If
/// it is dropped, the answer is lost.
///
/// The evidence changes no state: [`Store::recover`] uses it to settle the execution.
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

/// Reads the receipt of an execution that took effect.
///
/// # Errors
///
/// The error of `serde_json`, if the receipt is of another type, or had more than 1 MiB and was
/// cut.
pub fn receipt<R: Serialize + DeserializeOwned>(
    completed: &Execution<Completed>,
) -> serde_json::Result<R> {
    let text = &completed.state().result;
    if text.len() > MAX_RECEIPT {
        return Err(was_cut("receipt"));
    }
    // A text such as `5` may be a number or a text. What is written as a text is one.
    let read = serde_json::from_str::<R>(text).ok();
    let is_text = |receipt: &R| matches!(serde_json::to_value(receipt), Ok(Value::String(_)));
    match read.filter(|receipt| !is_text(receipt)) {
        Some(receipt) => Ok(receipt),
        None => R::deserialize(Value::String(text.clone())),
    }
}
