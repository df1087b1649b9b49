use std::{fmt::Display, future::Future, panic::AssertUnwindSafe};

use futures_util::FutureExt;

use super::{
    Evidence, Execution, InDoubt, Permit,
    execution::{Completed, Failed},
    permit::AtWork,
};
use crate::id::Id;

/// The answer of an irreversible tool: evidence that the effect took place, or why there is none.
///
/// `?` turns any other error into [`NotDone::Unknown`], because an error alone does not prove that
/// nothing happened.
pub type Answer = Result<Applied, NotDone>;

/// The effect took place. The receipt is the response of the remote side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied(String);

impl Applied {
    /// The effect took place, with this receipt.
    pub fn new(receipt: impl Into<String>) -> Self {
        Self(receipt.into())
    }
}

/// There is no receipt.
///
/// This type does not implement [`Error`](std::error::Error), so that it can be converted from every
/// type that does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotDone {
    /// The tool can prove that nothing happened: the connection was refused, or the remote side
    /// rejected the request before it accepted anything. The key is released.
    NotApplied(String),
    /// The effect may have taken place. The execution is in doubt until someone settles it.
    Unknown(String),
}

impl NotDone {
    /// Provably nothing happened, for this reason.
    pub fn not_applied(reason: impl Display) -> Self {
        Self::NotApplied(reason.to_string())
    }

    /// It is unknown whether the effect took place, for this reason.
    pub fn unknown(reason: impl Display) -> Self {
        Self::Unknown(reason.to_string())
    }
}

impl<E: std::error::Error> From<E> for NotDone {
    fn from(error: E) -> Self {
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cause = error.source();
        }
        Self::Unknown(reason)
    }
}

/// The outcome of a call that used up its permit. Pass it to [`Store::settle`].
///
/// [`Store::settle`]: crate::store::Store::settle
#[derive(Debug)]
#[must_use = "an outcome that is not settled leaves its execution in doubt"]
pub struct Outcome {
    pub(crate) execution_id: Id,
    pub(crate) epoch: u64,
    pub(crate) evidence: Evidence,
    // Held until the outcome is on disk.
    #[allow(dead_code, reason = "a guard: only its lifetime matters")]
    pub(crate) at_work: AtWork,
}

impl Outcome {
    /// The evidence about the effect.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

impl Permit {
    /// Runs `tool` under this permit. A panic inside it makes the outcome unknown.
    ///
    /// The tool must enforce [`timeout`](Self::timeout) itself, with the timer of its runtime. An
    /// elapsed timeout is an error, which `?` turns into "unknown".
    ///
    /// ```
    /// use machine::contract::{Answer, Applied, NotDone, Permit};
    ///
    /// async fn deploy(permit: Permit) -> Answer {
    ///     let version: u32 = "17".parse()?; // any error here is "unknown"
    ///     if version < 17 {
    ///         return Err(NotDone::not_applied("refused before anything was changed"));
    ///     }
    ///     Ok(Applied::new(format!("version {version} is live")))
    /// }
    /// # let _ = |permit: Permit| permit.call(deploy);
    /// ```
    pub async fn call<F, Fut>(self, tool: F) -> Outcome
    where
        F: FnOnce(Permit) -> Fut,
        Fut: Future<Output = Answer>,
    {
        let (execution_id, epoch) = (self.execution_id, self.epoch);
        let at_work = AtWork::clone(&self.at_work);
        // Unwind safe: the tool borrows nothing from us, and its own state is dropped on a panic.
        let answer = AssertUnwindSafe(async { tool(self).await }).catch_unwind().await;
        let evidence = match answer {
            Ok(Ok(Applied(receipt))) => Evidence::Applied(receipt),
            Ok(Err(NotDone::NotApplied(reason))) => Evidence::NotApplied(reason),
            Ok(Err(NotDone::Unknown(reason))) => Evidence::Unknown(reason),
            Err(_) => Evidence::Unknown("the tool panicked".to_owned()),
        };
        Outcome { execution_id, epoch, evidence, at_work }
    }
}

/// An execution after its irreversible call.
#[derive(Debug)]
#[must_use = "it holds the outcome of the action"]
pub enum Settled {
    /// The effect took place.
    Completed(Execution<Completed>),
    /// Nothing happened; the key is free for another attempt.
    Failed(Execution<Failed>),
    /// Unknown. The execution waits for a person or a reconciler.
    InDoubt(InDoubt),
}
