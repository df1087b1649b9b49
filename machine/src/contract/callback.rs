//! Services that accept a call and report its outcome later.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Answer, AnswersLater, Applied, Call, NotDone, Tool};
use crate::journal::Digest;
#[cfg(feature = "store")]
use crate::{
    __private::{Who, who},
    actor::{Callback, ToolNode},
};

/// The right to report the outcome of one call, for the service that accepted it.
///
/// A store makes one for each call of a tool whose effect is [`AnswersLater`], before the call, and keeps
/// only its digest. [`Call::callback_token`] is for the service; what the service sends back becomes a
/// token again with [`new`](Self::new). Its `Debug` does not show it.
///
/// ```
/// use machine::contract::CallbackToken;
///
/// let token = CallbackToken::new("775ba94a7dd3cc1083c4129eceb6f1c9");
/// assert_eq!(format!("{token:?}"), "CallbackToken(..)");
/// ```
#[derive(Clone)]
pub struct CallbackToken(String);

impl CallbackToken {
    /// The token in a request.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// An unguessable token of 192 random bits.
    #[cfg(feature = "store")]
    pub(crate) fn fresh() -> Result<Self, getrandom::Error> {
        crate::id::unguessable().map(Self)
    }

    /// The text to send to the service. Keep it out of logs.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digest of the token, which a store keeps.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&[b"callback", self.0.as_bytes()])
    }

    /// Returns `true` if it is the token with this digest. The time that this takes does not depend on what is wrong,
    /// nor on whether there is a token at all.
    #[cfg(feature = "store")]
    pub(crate) fn is(&self, expected: Option<Digest>) -> bool {
        // Digests are compared in constant time.
        (self.digest() == expected.unwrap_or(Digest::ZERO)) & expected.is_some()
    }
}

impl fmt::Debug for CallbackToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackToken(..)")
    }
}

/// The service has accepted a call, and reports its outcome later. [`Call::accepted`] makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub(crate) reference: String,
    pub(crate) within: Duration,
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The reference is not for people, and this becomes a part of a question.
        f.write_str("the service accepted it, and reports later")
    }
}

impl<T: Tool<Effect = AnswersLater>> Call<T> {
    /// The token by which the service reports the outcome of this call, and of no other.
    ///
    /// The service decides once for each token: after it has reported "not applied", it must not carry out
    /// anything that comes with the token.
    #[must_use]
    pub fn callback_token(&self) -> &CallbackToken {
        match &self.callback {
            Some(token) => token,
            None => unreachable!("a store makes the token with the permit of such a tool"),
        }
    }

    /// The path below the server's address to which the service sends its report, with the token as
    /// `Authorization: Bearer TOKEN`. See the module `http`.
    #[must_use]
    pub fn report_path(&self) -> String {
        format!("api/execution/{}/report", self.execution_id())
    }

    /// The answer that the service has accepted the call under its own reference, and reports the
    /// outcome within this time. The execution waits for the report, also after the end of this process. Without a
    /// report in time it is in doubt.
    ///
    /// It counts when the whole call has ended: while a guard of [`in_flight`](Self::in_flight) is alive,
    /// or if it comes through one, the outcome is unknown.
    ///
    /// # Errors
    ///
    /// None: the answer is an `Err`, because there is no receipt yet.
    pub fn accepted(&self, reference: impl Into<String>, within: Duration) -> Answer<T::Receipt> {
        let reference = super::outcome::bounded(reference.into());
        Err(NotDone::Accepted(Accepted { reference, within }))
    }
}

/// The report of a service on a call that it has accepted. As JSON: `{"applied": RECEIPT}` or
/// `{"not_applied": "REASON"}`.
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
pub enum Report<R = String> {
    /// The call took effect, with this receipt.
    Applied(R),
    /// Provably nothing happened, for this reason.
    NotApplied(String),
}

impl<R> From<Report<R>> for Answer<R> {
    fn from(report: Report<R>) -> Self {
        match report {
            Report::Applied(receipt) => Ok(Applied::new(receipt)),
            Report::NotApplied(reason) => Err(NotDone::NotApplied(reason)),
        }
    }
}

/// The reporter of the outcome of a call: the service itself, by its [`CallbackToken`], or the
/// [`ToolNode`](crate::actor::ToolNode) of a program that has received the report in another way, such as from a queue.
#[cfg(feature = "store")]
pub trait Reporter: sealed::Sealed + Sync {
    #[doc(hidden)]
    fn __token(&self) -> Option<&CallbackToken>;

    #[doc(hidden)]
    fn __who(&self) -> Who<'_>;
}

#[cfg(feature = "store")]
impl Reporter for ToolNode {
    fn __token(&self) -> Option<&CallbackToken> {
        None
    }

    fn __who(&self) -> Who<'_> {
        who(self)
    }
}

#[cfg(feature = "store")]
impl Reporter for CallbackToken {
    fn __token(&self) -> Option<&CallbackToken> {
        Some(self)
    }

    fn __who(&self) -> Who<'_> {
        who(&Callback)
    }
}

#[cfg(feature = "store")]
mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::actor::ToolNode {}
    impl Sealed for super::CallbackToken {}
}
