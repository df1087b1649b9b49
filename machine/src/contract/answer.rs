//! The answers of services, and the evidence in them.

use std::{any::Any, error::Error, fmt::Display};

use serde::{Deserialize, Serialize};

use super::{
    Accepted, Evidence, Refusal,
    limits::{bounded, bounded_receipt},
};
use crate::language::Phrase;

/// The answer of a service: evidence that the call took effect, or the reason why it is missing.
///
/// [`or_refused`](OrRefused::or_refused) turns an error from before anything happened into
/// [`NoReceipt::NotApplied`]. `?` alone turns every error into [`NoReceipt::Unknown`], because an
/// error does not prove that nothing happened.
///
/// ```
/// use machine::contract::{Answer, Applied, OrRefused};
///
/// fn reserve(seats: u32) -> Result<u32, String> {
///     if seats > 4 { Err("four seats at most".to_owned()) } else { Ok(17) }
/// }
///
/// fn book(seats: u32) -> Answer {
///     let reservation = reserve(seats).or_refused()?;
///     let confirmed: u32 = format!("{reservation}").parse()?; // an error here is unknown
///     Ok(Applied::new(format!("booking {confirmed}")))
/// }
/// # assert!(book(2).is_ok() && book(5).is_err());
/// ```
pub type Answer<R = String, N = String> = Result<Applied<R>, NoReceipt<N>>;

/// Errors that prove that nothing happened.
pub trait OrRefused<T, N> {
    /// Declares that an error is the refusal of the tool: provably nothing happened, and the key is
    /// free.
    ///
    /// # Errors
    ///
    /// [`NoReceipt::NotApplied`] with the error.
    fn or_refused(self) -> Result<T, NoReceipt<N>>;
}

impl<T, N> OrRefused<T, N> for Result<T, N> {
    fn or_refused(self) -> Result<T, NoReceipt<N>> {
        self.map_err(NoReceipt::NotApplied)
    }
}

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
/// This type does not implement [`Error`](std::error::Error), so that it can be converted from
/// every type that does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoReceipt<N = String> {
    /// The service can prove that nothing happened: the connection was refused, or the remote side
    /// rejected the request before it accepted anything. The key is released. The refusal is typed:
    /// see [`Tool::Refusal`](super::Tool::Refusal).
    NotApplied(N),
    /// The action may have taken effect, and the call has ended. The execution is in doubt until
    /// someone settles it.
    Unknown(String),
    /// The service has accepted the call and reports its outcome later: see
    /// [`Call::accepted`](super::Call::accepted). The execution waits for the report.
    Accepted(Accepted),
    /// The action may yet take effect: the call has started something that is still running, such
    /// as a client that the service no longer waits for, and its end cannot be observed. The call
    /// counts as alive until its process ends.
    StillRunning(String),
    /// A task of the call failed, or the service has stopped waiting for a part of it: `?` on
    /// tokio's `Elapsed` and `JoinError`, and on a timeout of `std`'s channels. Treated like
    /// [`StillRunning`](Self::StillRunning), unless the service is
    /// [confined](super::Perform::CONFINED) to its future.
    CutOff(String),
}

impl<N> NoReceipt<N> {
    /// Provably nothing happened, for this reason in words.
    pub fn not_applied(reason: impl Display) -> Self
    where
        N: From<String>,
    {
        Self::NotApplied(reason.to_string().into())
    }

    /// Converts the refusal, for example from that of another tool, whose service this one uses.
    pub fn map<M>(self, refusal: impl FnOnce(N) -> M) -> NoReceipt<M> {
        match self {
            Self::NotApplied(reason) => NoReceipt::NotApplied(refusal(reason)),
            Self::Unknown(reason) => NoReceipt::Unknown(reason),
            Self::Accepted(accepted) => NoReceipt::Accepted(accepted),
            Self::StillRunning(reason) => NoReceipt::StillRunning(reason),
            Self::CutOff(reason) => NoReceipt::CutOff(reason),
        }
    }

    /// It is unknown whether the call took effect, for this reason. The call has ended.
    pub fn unknown(reason: impl Display) -> Self {
        Self::Unknown(reason.to_string())
    }
}

impl<E: Error + 'static, N> From<E> for NoReceipt<N> {
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

/// Returns `true` if an error says that a task has failed or that a wait was given up, so that a
/// part of the call may still be running.
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
        // `Elapsed` converts to this; an error of the system has a number, and one of `std` another
        // text.
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

/// The report of a service on a call that it has accepted. As JSON: `{"applied": RECEIPT}` or
/// `{"not_applied": REFUSAL}`.
///
/// ```
/// use machine::contract::Report;
///
/// let report: Report = serde_json::from_str(r#"{"applied": "version 17 is live"}"#)?;
/// assert_eq!(report, Report::Applied("version 17 is live".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report<R = String, N = String> {
    /// The call took effect, with this receipt.
    Applied(R),
    /// Provably nothing happened, for this reason.
    NotApplied(N),
}

impl<R, N> From<Report<R, N>> for Answer<R, N> {
    fn from(report: Report<R, N>) -> Self {
        match report {
            Report::Applied(receipt) => Ok(Applied::new(receipt)),
            Report::NotApplied(reason) => Err(NoReceipt::NotApplied(reason)),
        }
    }
}

/// Why a call that has answered may still be running; the stronger reason last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StillRunning {
    /// It panicked, or its error is that of a task that failed or of a wait that was given up.
    Presumed,
    /// The service reported it.
    Declared,
}

pub(crate) struct Answered {
    pub(crate) evidence: Evidence,
    /// Why a part of the call may still be running.
    pub(crate) still_running: Option<StillRunning>,
    pub(crate) accepted: Option<Accepted>,
}

impl From<Evidence> for Answered {
    fn from(evidence: Evidence) -> Self {
        Self { evidence, still_running: None, accepted: None }
    }
}

impl Answered {
    /// The evidence in an answer, or in the panic that came instead.
    pub(crate) fn of<R: Serialize, N: Serialize + Display>(
        answer: Result<Answer<R, N>, Box<dyn Any + Send>>,
    ) -> Self {
        let unknown = |reason: String, still_running| Self {
            evidence: Evidence::Unknown(reason),
            still_running,
            accepted: None,
        };
        match answer {
            Ok(Ok(Applied(receipt))) => Evidence::Applied(text_of(&receipt)).into(),
            Ok(Err(NoReceipt::NotApplied(reason))) => {
                Evidence::NotApplied(Refusal::of(&reason)).into()
            }
            Ok(Err(NoReceipt::Unknown(reason))) => unknown(bounded(reason), None),
            Ok(Err(NoReceipt::Accepted(later))) => {
                let answered = unknown(later.to_string(), None);
                Self { accepted: Some(later), ..answered }
            }
            Ok(Err(NoReceipt::StillRunning(reason))) => {
                unknown(bounded(reason), Some(StillRunning::Declared))
            }
            Ok(Err(NoReceipt::CutOff(reason))) => {
                unknown(bounded(reason), Some(StillRunning::Presumed))
            }
            Err(_) => {
                let reason = Phrase::ServicePanicked.english().to_owned();
                unknown(reason, Some(StillRunning::Presumed))
            }
        }
    }
}

/// A receipt that is a text as it is, any other as JSON. A receipt that cannot be written proves
/// the effect all the same.
pub(crate) fn text_of<R: Serialize>(receipt: &R) -> String {
    // `Serialize` is the user's code.
    let written =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| serde_json::to_value(receipt)));
    bounded_receipt(match written {
        Ok(Ok(serde_json::Value::String(text))) => text,
        Ok(Ok(value)) => value.to_string(),
        Ok(Err(error)) => format!("a receipt that cannot be written as JSON: {error}"),
        Err(_) => "a receipt whose `Serialize` panicked".to_owned(),
    })
}
