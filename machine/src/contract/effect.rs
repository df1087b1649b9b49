use std::{fmt::Display, future::Future, panic::AssertUnwindSafe};

use futures_util::FutureExt;

use super::{
    Execution, InDoubt, Permit,
    execution::{Completed, Failed},
    permit::AtWork,
};
use crate::{id::Id, journal::Evidence};

/// What an irreversible tool answers with: evidence that it was done, or why there is none.
///
/// `?` on any other error gives [`NotDone::Unknown`], because an error alone does not show that
/// nothing happened.
pub type Answer = Result<Applied, NotDone>;

/// It took place. The receipt is what the other side answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied(String);

impl Applied {
    /// It took place, and this is what the other side answered.
    pub fn new(receipt: impl Into<String>) -> Self {
        Self(receipt.into())
    }
}

/// There is no receipt.
///
/// It is no [`Error`](std::error::Error) itself, so that it can be made from every one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotDone {
    /// The tool can prove that nothing happened: the connection was refused, or the other side
    /// said no before it accepted anything. The key becomes free again.
    NotApplied(String),
    /// It may have happened. The execution is in doubt until somebody finds out.
    Unknown(String),
}

impl NotDone {
    /// Nothing happened, provably, because of this.
    pub fn not_applied(reason: impl Display) -> Self {
        Self::NotApplied(reason.to_string())
    }

    /// Nobody can say whether it happened, because of this.
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

/// A permit that was used, and what came of it. [`SqliteStore::settle`] takes it.
///
/// [`SqliteStore::settle`]: crate::store::SqliteStore::settle
#[derive(Debug)]
#[must_use = "an outcome that is not settled leaves its execution in doubt"]
pub struct Outcome {
    pub(crate) execution_id: Id,
    pub(crate) epoch: u64,
    pub(crate) evidence: Evidence,
    // Held until the outcome is on disk.
    #[allow(dead_code, reason = "its being alive is what it says")]
    pub(crate) at_work: AtWork,
}

impl Outcome {
    /// What is known.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

impl Permit {
    /// Runs `tool` under this permit. A panic inside it makes the outcome unknown.
    ///
    /// The tool keeps to [`timeout`](Self::timeout) itself, with the timer of its own runtime; an
    /// elapsed one is an error, and `?` makes it unknown.
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
        // The tool's own state is gone after a panic; nothing of ours was lent to it.
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
#[must_use = "it says what became of the action"]
pub enum Settled {
    /// It took place.
    Completed(Execution<Completed>),
    /// Nothing happened; the key is free for another attempt.
    Failed(Execution<Failed>),
    /// Nobody can say. It waits for a person or a reconciler.
    InDoubt(InDoubt),
}
